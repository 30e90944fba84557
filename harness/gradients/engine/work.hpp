#pragma once

#include <atomic>
#include <cstdint>

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

/// What is in one and not in the other.
inline Work operator-(const Work& all, const Work& part) {
  return {all.gradients - part.gradients,
          all.second_passes - part.second_passes,
          all.evaluations - part.evaluations,
          all.other_gradients - part.other_gradients,
          all.other_operations - part.other_operations,
          all.own_loops - part.own_loops};
}

/// Adds up work from any thread. Sums of whole numbers do not depend on the order of threads.
class WorkMeter {
 public:
  void add(const Work& work) {
    gradients_ += work.gradients;
    second_passes_ += work.second_passes;
    evaluations_ += work.evaluations;
    other_gradients_ += work.other_gradients;
    other_operations_ += work.other_operations;
    own_loops_ += work.own_loops;
  }
  /// Of all calls that have returned.
  Work total() const {
    return {gradients_, second_passes_, evaluations_, other_gradients_, other_operations_, own_loops_};
  }

 private:
  std::atomic<std::int64_t> gradients_ = 0, second_passes_ = 0, evaluations_ = 0, other_gradients_ = 0,
                            other_operations_ = 0, own_loops_ = 0;
};

}  // namespace fedarena
