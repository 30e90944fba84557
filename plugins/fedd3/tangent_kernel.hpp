#pragma once

#include <cstdint>

#include <torch/types.h>

namespace fedd3 {

/// A fully connected network of infinite width: affine maps with weights of variance `weight_variance` over
/// the fan in and biases of variance `bias_variance`, ReLU after each but the last.
struct Network {
  std::int64_t depth = 4;  ///< hidden layers
  double weight_variance = 2;
  double bias_variance = 0.01;
};

/// Its neural tangent kernel in the NTK parameterisation (Jacot, Gabriel, Hongler 2018), by the recursion
/// over arc-cosine kernels (Cho and Saul 2009): inputs [n, numbers] and [m, numbers] in double precision,
/// result [n, m], differentiable in both. Where two inputs have the same direction the derivative takes their
/// angle as constant: it has no derivative there.
torch::Tensor tangent_kernel(const Network& network, const torch::Tensor& left, const torch::Tensor& right);

}  // namespace fedd3
