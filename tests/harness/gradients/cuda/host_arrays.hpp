#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/gradients/cuda/launch.hpp"

namespace fedarena::cuda {

/// Where the kernels of kernel_cases.hpp find their numbers, and run: the host's memory, in arrays of their
/// very sizes, so that the address sanitizer sees the first step beyond one. gpu_arrays.hpp has the same for
/// a GPU.
class HostArrays {
 public:
  explicit HostArrays(const Place& place = {}) : place_(place) {}

  template <typename T>
  T* put(const std::vector<T>& numbers) {
    // An array of bytes would be aligned for less.
    auto array = std::make_shared<std::vector<T>>(numbers);
    arrays_.push_back(array);
    return array->data();
  }
  /// Reads the first `count` numbers at a pointer that `put` gave.
  template <typename T>
  std::vector<T> take(const T* numbers, std::size_t count) const {
    return {numbers, numbers + count};
  }
  template <typename Kernel>
  void run(const Kernel& kernel) const {
    launch(kernel, place_);
  }

 private:
  Place place_;
  std::vector<std::shared_ptr<void>> arrays_;
};

}  // namespace fedarena::cuda
