#include "harness/gradients/engine/outputs.hpp"

#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "harness/gradients/engine/pass.hpp"

namespace fedarena {
namespace {

torch::Tensor or_zeros(const torch::Tensor& gradient, const torch::Tensor& like) {
  return gradient.defined() ? gradient : torch::zeros_like(like);
}

Compute::OutputGradient output_gradient_by_autograd(const Model& model, const Params& at,
                                                    const torch::Tensor& inputs,
                                                    const torch::Tensor& slopes) {
  const torch::AutoGradMode enabled(true);
  const torch::Tensor flat = at.flat().detach().requires_grad_(), leaf = inputs.detach().requires_grad_();
  const torch::Tensor outputs = model.forward({at.layout(), flat}, leaf);
  const std::vector<torch::Tensor> gradients =
      torch::autograd::grad({outputs}, {flat, leaf}, {slopes}, /*retain_graph=*/false,
                            /*create_graph=*/false, /*allow_unused=*/true);
  return {{at.layout(), or_zeros(gradients[0], flat)}, or_zeros(gradients[1], inputs)};
}

}  // namespace

torch::Tensor outputs_by_rules(const Weights& weights, const torch::Tensor& inputs) {
  const torch::NoGradGuard no_graph;
  if (!has_rules(weights.model())) return weights.model().forward(weights.at(), inputs);
  return Pass(weights, Want::kSum).forward(inputs);
}

Compute::OutputGradient output_gradient_by_rules(const Weights& weights, const torch::Tensor& inputs,
                                                 const torch::Tensor& slopes) {
  if (!has_rules(weights.model()))
    return output_gradient_by_autograd(weights.model(), weights.at(), inputs, slopes);
  const torch::NoGradGuard no_graph;
  Pass pass(weights, Want::kSum);
  pass.forward(inputs);
  Compute::OutputGradient result{zeros_like(weights.at()), {}};
  result.inputs = or_zeros(pass.backward(slopes, /*to_inputs=*/true), inputs).view(inputs.sizes());
  pass.add_sum(kernels::Factors::ones(inputs.size(0)), result.parameters);
  return result;
}

}  // namespace fedarena
