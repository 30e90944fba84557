#pragma once

#include <cstdint>

#include "fedarena/model.hpp"

namespace fedarena {

/// Floating-point operations on one example: the multiplications and additions of convolutions and affine
/// maps, whose bias takes the place of the addition that a sum of products is short of. Products with the
/// zeros of a padding count. Normalisations, pooling and the loss do not, nor does what a Custom layer
/// computes, which nobody but its author knows.
struct Operations {
  std::int64_t forward = 0;
  /// The forward pass, the gradient of every weight (whose products are added to a sum over examples), and
  /// the gradient of every input before which something is learnt; each costs as much as the layer's forward
  /// pass.
  std::int64_t gradient = 0;
  /// A gradient, and the gradient in the inputs of its product with a direction (Compute::input_gradient):
  /// the second pass goes through every layer once for the parameters and once for the direction in which
  /// they move, forward and back, but for inputs that do not move. Gradient + (gradient + forward).
  std::int64_t input_gradient = 0;
};

Operations count_operations(const Model& model);

}  // namespace fedarena
