#pragma once

#include "fedarena/compute.hpp"

#include "harness/gradients/rules/weights.hpp"

namespace fedarena {

/// GradientEngine::outputs and output_gradient of one micro-batch, on this thread: by rules where the model
/// has them (has_rules), else by LibTorch.
torch::Tensor outputs_by_rules(const Weights& weights, const torch::Tensor& inputs);
Compute::OutputGradient output_gradient_by_rules(const Weights& weights, const torch::Tensor& inputs,
                                                 const torch::Tensor& slopes);

}  // namespace fedarena
