#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/gradients/cuda/walk.hpp"

namespace fedarena::cuda {

/// Queues blocks [first, first + count) on the current GPU's stream (a cudaStream_t) and returns. Throws
/// std::bad_alloc when the GPU has no memory for it, std::runtime_error with the CUDA runtime's words when it
/// refuses. Only for the kernels that gpu.cu lists, and only in builds with CUDA.
template <typename Kernel>
void launch_on_gpu(const Kernel& kernel, std::int64_t first, std::int64_t count, void* stream);

/// Where kernels run.
struct Place {
  bool on_gpu = false;
  void* stream = nullptr;                             ///< of the GPU
  Order order = Order::kForward;                      ///< on the host
  std::int64_t most_blocks = std::int64_t{1} << 30U;  ///< of a launch; a GPU takes twice as many
};

/// Runs the kernel's blocks there, in as many launches as they need: done when it returns on the host, queued
/// on a GPU.
template <typename Kernel>
void launch(const Kernel& kernel, const Place& place) {
  const std::int64_t blocks = kernel.blocks();
  for (std::int64_t first = 0; first < blocks; first += place.most_blocks) {
    const std::int64_t count = std::min(place.most_blocks, blocks - first);
#ifdef FEDARENA_WITH_CUDA
    if (place.on_gpu) {
      launch_on_gpu(kernel, first, count, place.stream);
      continue;
    }
#endif
    walk(kernel, first, count, place.order);
  }
}

}  // namespace fedarena::cuda
