#include "benchmarks/rival.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fedarena/base/error.hpp"

namespace fedarena::benchmarks {
namespace {

// Works until the other end of `requests` closes.
[[noreturn]] void serve(int requests, int answers, const std::function<std::function<void()>()>& prepare) {
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

Rival::Rival(const std::function<std::function<void()>()>& prepare) {
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

Rival::~Rival() {
  close(requests_);
  close(answers_);
  waitpid(process_, nullptr, 0);
}

Cost Rival::turn() const {
  const char request = 0;
  Cost cost;
  FEDARENA_CHECK(write(requests_, &request, 1), ==, 1);
  FEDARENA_CHECK(read(answers_, &cost, sizeof(cost)), ==, static_cast<ssize_t>(sizeof(cost)));
  return cost;
}

double Duel::turn() {
  const bool we_are_first = our_costs_.wall.size() % 2 == 0;
  Cost ours;
  if (we_are_first) ours = cost_of(ours_);
  let_threads_fall_asleep();
  const Cost theirs = rival_.turn();
  let_threads_fall_asleep();
  if (!we_are_first) ours = cost_of(ours_);
  our_costs_.add(ours);
  their_costs_.add(theirs);
  return ours.wall;
}

void Duel::report(benchmark::State& state, double samples, double flops_per_sample) const {
  state.counters["ratio"] = median(ratios(their_costs_.wall, our_costs_.wall));
  state.counters["ratio_best"] = smallest(their_costs_.wall) / smallest(our_costs_.wall);
  state.counters["ratio_cpu"] = median(ratios(their_costs_.cpu, our_costs_.cpu));
  state.counters["samples_s"] = samples / median(our_costs_.wall);
  state.counters["samples_s_best"] = samples / smallest(our_costs_.wall);
  state.counters["rival_s"] = samples / median(their_costs_.wall);
  state.counters["rival_s_best"] = samples / smallest(their_costs_.wall);
  state.counters["gflops_best"] = 1e-9 * samples * flops_per_sample / smallest(our_costs_.wall);
}

}  // namespace fedarena::benchmarks
