#pragma once

#include <torch/types.h>

#include "harness/gradients/cuda/launch.hpp"
#include "harness/gradients/cuda/tensors.hpp"

namespace fedarena::cuda {

/// Where kernels on that tensor run now. Bug where `takes` is false.
Place place_of(const torch::Tensor& tensor);

#ifdef FEDARENA_WITH_CUDA
/// LibTorch's current stream of that GPU, a cudaStream_t.
void* current_stream(torch::Device device);
/// See memory_of.
Memory gpu_memory_of(torch::Device device);
#endif

}  // namespace fedarena::cuda
