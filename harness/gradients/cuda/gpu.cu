// The kernels as a GPU runs them: one thread of the GPU for each of a block's, a barrier after each phase.
// Compiled without contraction to fused multiply-adds, so that results have the bits of the walk on the host.
#include <cuda_runtime.h>
#include <new>
#include <stdexcept>
#include <string>

#include "harness/gradients/cuda/launch.hpp"
#include "harness/gradients/cuda/norm_tangents.hpp"
#include "harness/gradients/cuda/normals.hpp"
#include "harness/gradients/cuda/norms.hpp"
#include "harness/gradients/cuda/patches.hpp"
#include "harness/gradients/cuda/pools.hpp"
#include "harness/gradients/cuda/rows.hpp"

namespace fedarena::cuda {
namespace {

template <typename Kernel>
class GpuBlock {
 public:
  using Shared = typename Kernel::Shared;

  __device__ GpuBlock(std::int64_t index, Shared& shared) : index_(index), shared_(shared) {}

  __device__ std::int64_t index() const { return index_; }
  __device__ Shared& shared() { return shared_; }
  template <typename Phase>
  __device__ void threads(const Phase& phase) {
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

 private:
  std::int64_t index_;
  Shared& shared_;
};

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kThreads) run(const Kernel kernel, std::int64_t first) {
  __shared__ typename Kernel::Shared shared;
  GpuBlock<Kernel> block(first + blockIdx.x, shared);
  kernel(block);
}

}  // namespace

template <typename Kernel>
void launch_on_gpu(const Kernel& kernel, std::int64_t first, std::int64_t count, void* stream) {
  const auto blocks = static_cast<unsigned>(count);
  run<<<blocks, Kernel::kThreads, 0, static_cast<cudaStream_t>(stream)>>>(kernel, first);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
    throw std::runtime_error(std::string("the GPU refused to start a kernel: ") + cudaGetErrorString(error));
  }
}

#define FEDARENA_KERNEL(...) \
  template void launch_on_gpu(const __VA_ARGS__&, std::int64_t, std::int64_t, void*);
#define FEDARENA_KERNELS(T)                \
  FEDARENA_KERNEL(SquaredNorms<T>)         \
  FEDARENA_KERNEL(NormForward<T>)          \
  FEDARENA_KERNEL(NormBackward<T>)         \
  FEDARENA_KERNEL(NormTangentForward<T>)   \
  FEDARENA_KERNEL(NormTangentBackward<T>)  \
  FEDARENA_KERNEL(ForEach<WeightedSum<T>>) \
  FEDARENA_KERNEL(ForEach<AddNormals<T>>)  \
  FEDARENA_KERNEL(ForEach<Pool<T>>)        \
  FEDARENA_KERNEL(ForEach<Patches<T>>)     \
  FEDARENA_KERNEL(ForEach<AddPatches<T>>)  \
  FEDARENA_KERNEL(ForEach<WeightMatrix<T>>)

FEDARENA_KERNELS(float)
FEDARENA_KERNELS(double)

}  // namespace fedarena::cuda
