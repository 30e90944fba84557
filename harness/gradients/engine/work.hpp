#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace fedarena {

/// What was computed, counted in examples.
struct Work {
  std::int64_t gradients = 0;      ///< first passes of gradients, clipped or not
  std::int64_t second_passes = 0;  ///< of gradients of a gradient in the inputs, each after a first pass
  std::int64_t evaluations = 0;    ///< forward passes without a gradient
  /// Gradients of other networks than the run's, and the floating-point operations of all that they did.
  std::int64_t other_gradients = 0, other_operations = 0;
  /// How often an algorithm asked itself whether to stop: a sign of loops that nobody counts.
  std::int64_t own_loops = 0;
  bool operator==(const Work&) const = default;
};

inline constexpr std::array kWorkCounts = {&Work::gradients,        &Work::second_passes,
                                           &Work::evaluations,      &Work::other_gradients,
                                           &Work::other_operations, &Work::own_loops};
static_assert(sizeof(Work) == kWorkCounts.size() * sizeof(std::int64_t));

/// What is in one and not in the other.
inline Work operator-(Work all, const Work& part) {
  for (const auto count : kWorkCounts) all.*count -= part.*count;
  return all;
}

/// Adds up work from any thread. Sums of whole numbers do not depend on the order of threads.
class WorkMeter {
 public:
  void add(const Work& work) {
    const std::lock_guard lock(mutex_);
    for (const auto count : kWorkCounts) total_.*count += work.*count;
  }
  /// Of all calls that have returned.
  Work total() const {
    const std::lock_guard lock(mutex_);
    return total_;
  }

 private:
  mutable std::mutex mutex_;
  Work total_;
};

}  // namespace fedarena
