#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace fedarena::benchmarks {

/// Wall time that a call takes.
double seconds_of(const std::function<void()>& body);

/// What a call takes.
struct Cost {
  double wall = 0;  ///< seconds
  double cpu = 0;   ///< seconds of all threads of this process together
};
Cost cost_of(const std::function<void()>& body);

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
