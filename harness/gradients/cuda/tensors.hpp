#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/stream.hpp"

#include "harness/gradients/cuda/walk.hpp"
#include "harness/gradients/kernels/kernels.hpp"

/// What the CPU's kernels:: compute, by the kernels of this room: on a GPU's tensors where they lie, queued
/// on LibTorch's current stream. Tensors are contiguous.
namespace fedarena::cuda {

/// Whether tensors on that device are this room's: those on a GPU, in builds with CUDA; and the CPU's while a
/// Walked lives.
bool takes(torch::Device device);
inline bool takes(const torch::Tensor& tensor) { return takes(tensor.device()); }

/// Bytes of a GPU's memory, and those that nobody has. A walk has no end of it. Bug where `takes` is false.
struct Memory {
  std::int64_t free, total;
};
Memory memory_of(torch::Device device);

/// While it lives, a GPU's kernels and rules work on the CPU's tensors too, walked by the host: for tests.
/// One at a time.
class Walked {
 public:
  /// Kernels find memory for tensors of so many numbers; beyond, they throw what LibTorch throws when a GPU
  /// has no more.
  explicit Walked(Order order, std::int64_t most_numbers = std::numeric_limits<std::int64_t>::max());
  ~Walked();
  Walked(const Walked&) = delete;
  Walked& operator=(const Walked&) = delete;
};

// These write to `to`.
void pool_planes(kernels::Pooling what, std::int64_t size, at::IntArrayRef shape, const torch::Tensor& inputs,
                 const torch::Tensor& from, const torch::Tensor& to);
void group_norm(const torch::Tensor& inputs, const kernels::Norm& norm, const kernels::Normalised& to);
void group_norm_backward(const torch::Tensor& deltas, const torch::Tensor& inputs,
                         const kernels::Normalised& forward, const kernels::Norm& norm,
                         const kernels::NormGradient& to);
void group_norm_tangent(const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                        const kernels::MovingNorm& norm, const kernels::NormTangent& to);
void group_norm_backward_tangent(const torch::Tensor& deltas, const torch::Tensor& delta_tangents,
                                 const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                                 const torch::Tensor& moments, const kernels::MovingNorm& norm,
                                 const torch::Tensor& to);

/// float64 [n], where the rows [n, ...] lie.
torch::Tensor squared_norms(const torch::Tensor& rows);
void add_weighted_sum(const kernels::Factors& factors, const torch::Tensor& rows,
                      const torch::Tensor& target);

/// target[i] += deviation * the i-th normal from that place of a stream on; an even number of them.
void add_normals(const Stream::Place& from, double deviation, const torch::Tensor& target);

/// The patches (cuda/patches.hpp) of inputs [n, in, h, w]: [n, rows, positions].
torch::Tensor patches_of(const Conv2d& layer, const torch::Tensor& inputs);
/// The weight's matrix for patches of so many rows, [out, rows], the bias among them.
torch::Tensor weight_matrix(const torch::Tensor& weight, const torch::Tensor& bias, std::int64_t rows);
/// The transpose, from [n, in * kernel * kernel, positions] to a tensor of that shape, [n, in, h, w].
torch::Tensor add_patches(const Conv2d& layer, const torch::Tensor& patches, at::IntArrayRef shape);

}  // namespace fedarena::cuda
