#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/gradients/cuda/launch.hpp"

namespace fedarena::cuda {

inline void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// HostArrays' counterpart on the current GPU: each array is an allocation of its own, so that
/// compute-sanitizer sees the first step beyond one.
class GpuArrays {
 public:
  explicit GpuArrays(std::int64_t most_blocks = Place().most_blocks)
      : place_{.on_gpu = true, .most_blocks = most_blocks} {}

  template <typename T>
  T* put(const std::vector<T>& numbers) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, std::max<std::size_t>(1, numbers.size()) * sizeof(T)), "cudaMalloc");
    arrays_.emplace_back(memory, cudaFree);
    require(cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice),
            "to the GPU");
    return static_cast<T*>(memory);
  }
  template <typename T>
  std::vector<T> take(const T* numbers, std::size_t count) const {
    std::vector<T> result(count);
    require(cudaMemcpy(result.data(), numbers, count * sizeof(T), cudaMemcpyDeviceToHost), "from the GPU");
    return result;
  }
  template <typename Kernel>
  void run(const Kernel& kernel) const {
    launch(kernel, place_);
    require(cudaDeviceSynchronize(), "a kernel");
  }

 private:
  Place place_;
  std::vector<std::unique_ptr<void, decltype(&cudaFree)>> arrays_;
};

}  // namespace fedarena::cuda
