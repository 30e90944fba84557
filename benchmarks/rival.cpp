#include "benchmarks/rival.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fedarena/base/error.hpp"

#include "benchmarks/speed.hpp"

namespace fedarena::benchmarks {
namespace {

// Works until the other end of `requests` closes.
[[noreturn]] void serve(int requests, int answers, const std::function<std::function<void()>()>& prepare) {
  try {
    const std::function<void()> work = prepare();
    for (char request = 0; read(requests, &request, 1) == 1;) {
      const double seconds = seconds_of(work);
      if (write(answers, &seconds, sizeof(seconds)) != sizeof(seconds)) break;
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

double Rival::turn_seconds() const {
  const char request = 0;
  double seconds = 0;
  FEDARENA_CHECK(write(requests_, &request, 1), ==, 1);
  FEDARENA_CHECK(read(answers_, &seconds, sizeof(seconds)), ==, static_cast<ssize_t>(sizeof(seconds)));
  return seconds;
}

void Duel::turn() {
  const bool we_are_first = our_seconds.size() % 2 == 0;
  if (we_are_first) our_seconds.push_back(ours_());
  let_threads_fall_asleep();
  their_seconds.push_back(rival_.turn_seconds());
  let_threads_fall_asleep();
  if (!we_are_first) our_seconds.push_back(ours_());
}

double Duel::ratio() const {
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < our_seconds.size(); ++turn) {
    ratios.push_back(their_seconds[turn] / our_seconds[turn]);
  }
  return median(ratios);
}

void Duel::report(benchmark::State& state, double samples, double flops_per_sample) const {
  state.counters["ratio"] = ratio();
  state.counters["ratio_of_best"] = smallest(their_seconds) / smallest(our_seconds);
  state.counters["samples_s"] = samples / median(our_seconds);
  state.counters["samples_s_best"] = samples / smallest(our_seconds);
  state.counters["rival_samples_s"] = samples / median(their_seconds);
  state.counters["rival_samples_s_best"] = samples / smallest(their_seconds);
  state.counters["gflops_best"] = 1e-9 * samples * flops_per_sample / smallest(our_seconds);
}

}  // namespace fedarena::benchmarks
