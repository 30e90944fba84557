// The only source that sees LibTorch's CUDA headers; empty in builds without CUDA.
#ifdef FEDARENA_WITH_CUDA
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "harness/gradients/cuda/place.hpp"

namespace fedarena::cuda {

void* current_stream(torch::Device device) {
  return c10::cuda::getCurrentCUDAStream(device.index()).stream();
}

Memory gpu_memory_of(torch::Device device) {
  const c10::DeviceGuard guard(device);
  std::size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return {.free = static_cast<std::int64_t>(free), .total = static_cast<std::int64_t>(total)};
}

}  // namespace fedarena::cuda
#endif
