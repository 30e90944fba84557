#pragma once

#include <functional>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/speed.hpp"

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

  /// Does one turn of the work.
  Cost turn() const;

 private:
  pid_t process_;
  int requests_ = -1;
  int answers_ = -1;
};

/// Two sides that take turns with the same amount of work.
class Duel {
 public:
  /// Each side has one turn that does not count.
  Duel(std::function<void()> ours, const Rival& rival) : ours_(std::move(ours)), rival_(rival) {
    ours_();
    rival_.turn();
  }

  /// One turn of each, in another order each time. Returns the seconds of ours.
  double turn();
  /// Writes the counters of a benchmark whose turns worked on that many samples.
  void report(benchmark::State& state, double samples, double flops_per_sample) const;

 private:
  std::function<void()> ours_;
  const Rival& rival_;
  Costs our_costs_, their_costs_;
};

}  // namespace fedarena::benchmarks
