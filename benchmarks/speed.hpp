#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace fedarena::benchmarks {

/// Wall time that a call takes.
double seconds_of(const std::function<void()>& body);

/// The same of every iteration of a benchmark, which is one call.
std::vector<double> time_each(benchmark::State& state, const std::function<void()>& body);

/// What a call takes.
struct Cost {
  double wall = 0;  ///< seconds
  double cpu = 0;   ///< seconds of all threads of this process together
};
Cost cost_of(const std::function<void()>& body);

/// What calls took, one by one.
struct Costs {
  std::vector<double> wall, cpu;
  void add(const Cost& cost);
};

/// One side of a comparison: does a turn of its work.
using Side = std::function<Cost()>;
inline Side timed(std::function<void()> body) {
  return [body = std::move(body)] { return cost_of(body); };
}

/// What turns of two sides took.
struct Turns {
  Costs first, second;
};
/// One turn of each in every iteration, in another order each time, so that a change of the machine's speed
/// concerns both; an iteration's time is the second side's. Each has one turn before that does not count.
Turns take_turns(benchmark::State& state, const Side& first, const Side& second);

/// For benchmarks that state what each of so many iterations took.
template <int iterations>
void timed_by_hand(benchmark::internal::Benchmark* registered) {
  registered->Iterations(iterations)->UseManualTime()->Unit(benchmark::kMillisecond);
}

/// Runs the benchmarks that the options of Google Benchmark choose; returns the exit code.
int run_benchmarks(int count, char** arguments);

/// Quotients, number by number.
std::vector<double> ratios(const std::vector<double>& above, const std::vector<double>& below);
double median(std::vector<double> values);
double smallest(const std::vector<double>& values);

/// The fastest single-precision product of square matrices (1024) on one thread, in GFLOP/s: what the
/// arithmetic units give in practice. Call it from a thread that use_one_torch_thread() was called on.
double gemm_gflops();

/// Resident memory of this process in KiB, after the allocator gave back what it can.
std::int64_t resident_kib();

/// The most that was resident at any time since this process started, in KiB.
std::int64_t peak_resident_kib();

}  // namespace fedarena::benchmarks
