#include "benchmarks/rival.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fedarena/base/error.hpp"

namespace fedarena::benchmarks {
namespace {

// Works until the other end of `requests` closes.
[[noreturn]] void serve(int requests, int answers, const Rival::Prepare& prepare) {
  try {
    const std::function<void()> work = prepare();
    for (char request = 0; read(requests, &request, 1) == 1;) {
      const Cost cost = cost_of(work);
      if (write(answers, &cost, sizeof(cost)) != sizeof(cost)) break;
    }
  } catch (const std::exception& failure) {
    fmt::print(stderr, "the other side of the comparison failed: {}\n", failure.what());
  }
  _exit(EXIT_SUCCESS);
}

// Threads of OpenMP, OpenBLAS and oneTBB spin for some milliseconds after their work, in the hope of more;
// meanwhile they would slow the other side.
void let_threads_fall_asleep() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

}  // namespace

Rival::Rival(const Prepare& prepare) {
  std::array<int, 2> requests{};
  std::array<int, 2> answers{};
  FEDARENA_CHECK(pipe(requests.data()), ==, 0);
  FEDARENA_CHECK(pipe(answers.data()), ==, 0);
  process_ = fork();
  FEDARENA_CHECK(process_, >=, 0);
  if (process_ == 0) {
    close(requests[1]);
    close(answers[0]);
    serve(requests[0], answers[1], prepare);
  }
  close(requests[0]);
  close(answers[1]);
  requests_ = requests[1];
  answers_ = answers[0];
}

// Later rivals have copies of the pipes, so that closing them here would not end it.
Rival::~Rival() {
  close(requests_);
  close(answers_);
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

Cost Rival::turn() const {
  const char request = 0;
  Cost cost;
  FEDARENA_CHECK(write(requests_, &request, 1), ==, 1);
  FEDARENA_CHECK(read(answers_, &cost, sizeof(cost)), ==, static_cast<ssize_t>(sizeof(cost)));
  return cost;
}

benchmark::internal::Benchmark* register_against(
    const std::string& name, const Rival::Prepare& prepare,
    const std::function<void(benchmark::State&, const Rival&)>& body) {
  static std::deque<Rival> rivals;
  const Rival& rival = rivals.emplace_back(prepare);
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [&rival, body](benchmark::State& state) { body(state, rival); });
}

void compare(benchmark::State& state, const Rival& rival, double samples, double flops_per_sample,
             const std::function<void()>& ours) {
  const auto their_turn = [&] {
    let_threads_fall_asleep();
    const Cost cost = rival.turn();
    let_threads_fall_asleep();
    return cost;
  };
  const auto [theirs, own] = take_turns(state, their_turn, timed(ours));
  state.counters["ratio"] = median(ratios(theirs.wall, own.wall));
  state.counters["ratio_best"] = smallest(theirs.wall) / smallest(own.wall);
  state.counters["ratio_cpu"] = median(ratios(theirs.cpu, own.cpu));
  state.counters["samples_s"] = samples / median(own.wall);
  state.counters["samples_s_best"] = samples / smallest(own.wall);
  state.counters["rival_s"] = samples / median(theirs.wall);
  state.counters["rival_s_best"] = samples / smallest(theirs.wall);
  state.counters["gflops_best"] = 1e-9 * samples * flops_per_sample / smallest(own.wall);
  state.counters["gemm_gflops"] = gemm_gflops();
}

}  // namespace fedarena::benchmarks
