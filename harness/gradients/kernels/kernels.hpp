#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/layers.hpp"

#include "harness/gradients/kernels/pooling.hpp"

/// Forward and backward passes of cheap layers, written by hand: LibTorch's average pooling alone took a
/// quarter of a gradient of the ConvNet. All tensors are contiguous and floating, on the CPU or, in builds
/// with CUDA, on a GPU, whose kernels are those of ../cuda.
namespace fedarena::kernels {

/// Of planes of `shape`, [n, c, height, width] before pooling. Of `inputs` and `from` what Pooling does not
/// name is not read and may be undefined.
torch::Tensor pool_planes(Pooling what, std::int64_t size, at::IntArrayRef shape, const torch::Tensor& inputs,
                          const torch::Tensor& from);

/// What follows a normalisation, or a convolution, in the same pass over memory: ReLU, then pooling, of
/// averages after the one and of largest numbers after the other.
struct Tail {
  bool relu = false;
  std::int64_t pool = 0;  ///< size of its windows; 0: none
};

/// A group normalisation of [n, channels, ...], its parameters [channels], and its tail. Pooling wants
/// [n, channels, h, w].
struct Norm {
  GroupNorm layer;
  Tail tail;
  torch::Tensor weight, bias;
};

struct Normalised {
  torch::Tensor outputs;                  ///< of the tail
  torch::Tensor mean, inverse_deviation;  ///< [n, groups]
};
/// The same bits as at::relu and pool_planes after a normalisation without a tail.
Normalised group_norm(const torch::Tensor& inputs, const Norm& norm);

struct NormGradient {
  torch::Tensor inputs;
  torch::Tensor weight, bias;  ///< [n, channels], one row an example
};
/// From the gradient in the tail's outputs: the same bits as pool_planes and at::threshold_backward
/// before a pass without a tail. What was normalised is computed again, so that nobody need keep it.
NormGradient group_norm_backward(const torch::Tensor& deltas, const torch::Tensor& inputs,
                                 const Normalised& forward, const Norm& norm);

/// A normalisation and the direction in which its parameters move.
struct MovingNorm : Norm {
  torch::Tensor weight_tangent, bias_tangent;
};

struct NormTangent {
  torch::Tensor outputs;  ///< derivative of the tail's outputs
  /// [n, groups, 4]: mean, inverse deviation, derivative of the mean, and of the inverse deviation's
  /// logarithm.
  torch::Tensor moments;
};
/// Derivative of group_norm's outputs where the inputs move by `input_tangents` and the parameters in their
/// direction. One pass over memory.
NormTangent group_norm_tangent(const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                               const MovingNorm& norm);

/// Derivative of group_norm_backward's gradient in the inputs, where moreover the gradients in the tail's
/// outputs, `deltas`, move by `delta_tangents`.
torch::Tensor group_norm_backward_tangent(const torch::Tensor& deltas, const torch::Tensor& delta_tangents,
                                          const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                                          const torch::Tensor& moments, const MovingNorm& norm);

/// A factor for each example of a micro-batch, on the host, and once on a GPU whose kernels ask for them.
class Factors {
 public:
  explicit Factors(std::vector<double> values) : values_(std::move(values)) {}
  static Factors ones(std::int64_t count) {
    return Factors(std::vector<double>(static_cast<std::size_t>(count), 1.0));
  }

  double operator[](std::size_t example) const { return values_[example]; }
  operator std::span<const double>() const { return values_; }  // NOLINT(google-explicit-constructor)
  /// [n] of that type on that device.
  const torch::Tensor& on(const torch::TensorOptions& options) const;

 private:
  std::vector<double> values_;
  mutable torch::Tensor moved_;
};

/// Numbers of any tensor, in double.
std::vector<double> to_vector(const torch::Tensor& tensor);
/// Sum of squares, in double.
double squared_norm(const torch::Tensor& tensor);
/// The same of each row [i, ...], float64 [n] where the rows lie.
torch::Tensor squared_norms(const torch::Tensor& rows);
/// target += sum over i of factors[i] * rows[i]; rows whose factor is zero are not read. On the CPU.
void add_weighted_sum(std::span<const double> factors, const std::vector<torch::Tensor>& rows,
                      const torch::Tensor& target);
/// The same of the rows of one tensor, on any device.
void add_weighted_sum(const Factors& factors, const torch::Tensor& rows, const torch::Tensor& target);

}  // namespace fedarena::kernels
