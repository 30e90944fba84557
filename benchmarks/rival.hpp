#pragma once

#include <functional>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace fedarena::benchmarks {

/// The other side of a comparison in a process of its own, where nothing of the harness has touched threads,
/// BLAS or the allocator. It works only while it is asked to, so that two sides can take turns.
class Rival {
 public:
  /// `prepare` runs in the new process and returns the work to be timed. Make it before this process starts
  /// threads.
  explicit Rival(const std::function<std::function<void()>()>& prepare);
  ~Rival();
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  /// Wall time of one turn of the work, as the other process measures it.
  double turn_seconds() const;

 private:
  pid_t process_;
  int requests_ = -1;
  int answers_ = -1;
};

/// Two sides that take turns.
class Duel {
 public:
  /// `ours` returns the seconds of one turn. Each side has one turn that does not count.
  Duel(std::function<double()> ours, const Rival& rival) : ours_(std::move(ours)), rival_(rival) {
    ours_();
    rival_.turn_seconds();
  }

  /// One turn of each; the first is another one each time.
  void turn();
  /// Median of their time over ours, turn by turn.
  double ratio() const;
  /// Writes the counters of a benchmark whose turns worked on that many samples.
  void report(benchmark::State& state, double samples, double flops_per_sample) const;

  std::vector<double> our_seconds, their_seconds;

 private:
  std::function<double()> ours_;
  const Rival& rival_;
};

}  // namespace fedarena::benchmarks
