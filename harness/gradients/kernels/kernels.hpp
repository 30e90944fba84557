#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/layers.hpp"

/// Forward and backward passes of cheap layers, written by hand: LibTorch's average pooling alone took a
/// quarter of a gradient of the ConvNet. All tensors are contiguous and floating, on the CPU or, in builds
/// with CUDA, on a GPU, whose kernels are those of ../cuda.
namespace fedarena::kernels {

/// Means over non-overlapping windows of [n, c, h, w]; what is left over at the right and below is dropped.
torch::Tensor average_pool(const torch::Tensor& inputs, std::int64_t size);
/// The transposed map: gradient in the inputs [n, c, height, width] from that in the outputs.
torch::Tensor average_pool_adjoint(const torch::Tensor& deltas, std::int64_t size, std::int64_t height,
                                   std::int64_t width);

/// The largest numbers of windows as average_pool's.
torch::Tensor max_pool(const torch::Tensor& inputs, std::int64_t size);
/// Its derivative where `inputs` move by `tangents`: theirs at the largest numbers, the first of equals.
torch::Tensor max_pool_tangent(const torch::Tensor& inputs, const torch::Tensor& tangents, std::int64_t size);
/// The transposed map of that: gradient in the inputs from that in the outputs.
torch::Tensor max_pool_adjoint(const torch::Tensor& inputs, const torch::Tensor& deltas, std::int64_t size);

/// What follows a normalisation in the same pass over memory.
struct Tail {
  bool relu = false;
  std::int64_t pool = 0;  ///< size of the average pooling after it; 0: none
};

struct Normalised {
  torch::Tensor outputs;                  ///< of the tail
  torch::Tensor mean, inverse_deviation;  ///< [n, groups]
};
/// Group normalisation of [n, channels, ...], then the tail: the same bits as at::relu and average_pool after
/// a normalisation without one. Pooling wants [n, channels, h, w].
Normalised group_norm(const torch::Tensor& inputs, const GroupNorm& layer, const torch::Tensor& weight,
                      const torch::Tensor& bias, const Tail& tail = {});

struct NormGradient {
  torch::Tensor inputs;
  torch::Tensor weight, bias;  ///< [n, channels], one row an example
};
/// From the gradient in the tail's outputs: the same bits as average_pool_adjoint and at::threshold_backward
/// before a pass without a tail. What was normalised is computed again, so that nobody need keep it.
NormGradient group_norm_backward(const torch::Tensor& deltas, const torch::Tensor& inputs,
                                 const Normalised& forward, const GroupNorm& layer,
                                 const torch::Tensor& weight, const torch::Tensor& bias,
                                 const Tail& tail = {});

/// Numbers of any tensor, in double.
std::vector<double> to_vector(const torch::Tensor& tensor);
/// Sum of squares, in double.
double squared_norm(const torch::Tensor& tensor);
/// The same of each row [i, ...].
std::vector<double> squared_norms(const torch::Tensor& rows);
/// target += sum over i of factors[i] * rows[i]; rows whose factor is zero are not read. On the CPU.
void add_weighted_sum(std::span<const double> factors, const std::vector<torch::Tensor>& rows,
                      const torch::Tensor& target);
/// The same of the rows of one tensor, on any device.
void add_weighted_sum(std::span<const double> factors, const torch::Tensor& rows,
                      const torch::Tensor& target);

}  // namespace fedarena::kernels
