#pragma once

#include <atomic>
#include <cstdint>

namespace fedarena {

/// What was computed, counted in examples.
struct Work {
  std::int64_t gradients = 0;      ///< first passes of gradients, clipped or not
  std::int64_t second_passes = 0;  ///< of gradients of a gradient in the inputs, each after a first pass
  std::int64_t evaluations = 0;    ///< forward passes without a gradient

  Work& operator-=(const Work& other) {
    gradients -= other.gradients;
    second_passes -= other.second_passes;
    evaluations -= other.evaluations;
    return *this;
  }
  bool operator==(const Work&) const = default;
};

/// Adds up work from any thread. Sums of whole numbers do not depend on the order of threads.
class WorkMeter {
 public:
  void add(const Work& work) {
    gradients_.fetch_add(work.gradients, std::memory_order_relaxed);
    second_passes_.fetch_add(work.second_passes, std::memory_order_relaxed);
    evaluations_.fetch_add(work.evaluations, std::memory_order_relaxed);
  }
  /// Of all calls that have returned.
  Work total() const {
    return {.gradients = gradients_.load(std::memory_order_relaxed),
            .second_passes = second_passes_.load(std::memory_order_relaxed),
            .evaluations = evaluations_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::int64_t> gradients_ = 0, second_passes_ = 0, evaluations_ = 0;
};

}  // namespace fedarena
