#pragma once

#include <memory>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/model.hpp"

#include "harness/gradients/engine/pass.hpp"

namespace fedarena {

/// What one layer computes in the second pass over some examples.
struct Moving {
  Seen seen;                     ///< in the first pass
  torch::Tensor input_tangents;  ///< undefined where the inputs do not move
  torch::Tensor moments;         ///< of a normalisation, for its backward pass
};

/// The layers of one Rule while the parameters move in a direction: how fast that moves outputs and, with the
/// outputs' gradients, the gradients in the inputs (Pearlmutter, Neural Computation 1994). Holds what depends
/// on parameters and direction alone, so that all micro-batches share it. All tensors are contiguous.
class TangentRule {
 public:
  TangentRule() = default;
  virtual ~TangentRule() = default;
  TangentRule(const TangentRule&) = delete;
  TangentRule& operator=(const TangentRule&) = delete;

  /// Derivative of the outputs; undefined where they do not move. Fills `at.moments`.
  virtual torch::Tensor forward(Moving& at) const = 0;
  /// Derivative of the gradients in the inputs from that of the gradients in the outputs.
  virtual torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const = 0;
};

/// A layer's parameters and the direction in which they move.
struct MovingParameters {
  std::vector<torch::Tensor> at, direction;
};

/// The same as has_rule of tangents.
bool has_tangent_rule(const Layer& layer);

/// The tangent rule of layers as Rule takes them, which have one, for inputs of such a shape.
std::unique_ptr<TangentRule> make_tangent_rule(std::span<const Layer> layers, MovingParameters parameters,
                                               const torch::Tensor& inputs);

/// On a GPU.
std::unique_ptr<TangentRule> make_product_tangent_rule(const Conv2d& layer, MovingParameters parameters);

}  // namespace fedarena
