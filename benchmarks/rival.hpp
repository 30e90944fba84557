#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include <benchmark/benchmark.h>

#include "benchmarks/speed.hpp"

namespace fedarena::benchmarks {

/// The other side of a comparison in a process of its own, where nothing of the harness has touched threads,
/// BLAS or the allocator. It works only while it is asked to, so that two sides can take turns.
class Rival {
 public:
  /// Runs in the new process and returns the work to be timed.
  using Prepare = std::function<std::function<void()>()>;

  /// Make it before this process starts threads.
  explicit Rival(const Prepare& prepare);
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

/// Registers a benchmark that is given a rival, which is made here and lives as long as this process.
benchmark::internal::Benchmark* register_against(
    const std::string& name, const Rival::Prepare& prepare,
    const std::function<void(benchmark::State&, const Rival&)>& body);

/// Runs the benchmark, by turns of ours and of the rival's on that many samples each, and writes its
/// counters.
void compare(benchmark::State& state, const Rival& rival, double samples, double flops_per_sample,
             const std::function<void()>& ours);

}  // namespace fedarena::benchmarks
