#pragma once

#include <torch/types.h>

#include "harness/gradients/kernels/kernels.hpp"

namespace fedarena::kernels {

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

}  // namespace fedarena::kernels
