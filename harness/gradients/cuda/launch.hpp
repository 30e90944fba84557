#pragma once

#include <cstdint>

#include "harness/gradients/cuda/walk.hpp"

namespace fedarena::cuda {

/// Queues so many blocks on the current GPU's stream (a cudaStream_t) and returns; none is no launch. Throws
/// std::bad_alloc when the GPU has no memory for it, std::runtime_error with the CUDA runtime's words when it
/// refuses. Only for the kernels that gpu.cu lists, and only in builds with CUDA.
template <typename Kernel>
void launch_on_gpu(const Kernel& kernel, std::int64_t blocks, void* stream);

/// Where kernels run.
struct Place {
  bool on_gpu = false;
  void* stream = nullptr;         ///< of the GPU
  Order order = Order::kForward;  ///< on the host
};

/// Runs so many blocks there: done when it returns on the host, queued on a GPU.
template <typename Kernel>
void launch(const Kernel& kernel, std::int64_t blocks, const Place& place) {
#ifdef FEDARENA_WITH_CUDA
  if (place.on_gpu) return launch_on_gpu(kernel, blocks, place.stream);
#endif
  walk(kernel, blocks, place.order);
}

}  // namespace fedarena::cuda
