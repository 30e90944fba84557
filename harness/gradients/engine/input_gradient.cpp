#include "harness/gradients/engine/input_gradient.hpp"

#include <algorithm>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"

#include "harness/gradients/engine/marks.hpp"

namespace fedarena {

bool has_second_pass(const Model& model) {
  const auto& layers = model.architecture().layers;
  return has_rules(model) && std::all_of(layers.begin(), layers.end(), has_tangent_rule);
}

SecondPass::SecondPass(const Model& model, const Params& direction, const Trace& trace, const WorkPool& pool)
    : loss_(model.architecture().loss), rules_(trace.steps.size()) {
  pool.for_each(rules_.size(), [&](std::size_t index) {
    const torch::NoGradGuard no_graph;
    const Seen& seen = trace.steps[index];
    if (is_mark(seen.layers[0])) return;
    const MovingParameters parameters{seen.weights->parameters, seen.weights->of(direction)};
    rules_[index] = make_tangent_rule(seen.layers, parameters, seen.inputs);
  });
}

torch::Tensor SecondPass::run(const Trace& trace, std::int64_t examples) const {
  const torch::NoGradGuard no_graph;
  std::vector<Moving> layers;
  torch::Tensor tangents;
  Aside aside;
  for (std::size_t index = 0; index < rules_.size(); ++index) {
    layers.push_back({trace.steps[index], tangents, {}});
    tangents = rules_[index] ? rules_[index]->forward(layers.back())
                             : pass_mark<Fork, Join>(trace.steps[index].layers[0], tangents, aside);
  }
  // Without parameters nothing moves.
  if (!tangents.defined()) return at::zeros_like(trace.steps.front().inputs);
  tangents = loss_tangents(trace.outputs, tangents) / static_cast<double>(examples);
  for (std::size_t index = rules_.size(); index-- > 0;) {
    tangents = rules_[index] ? rules_[index]->backward(layers[index], tangents)
                             : pass_mark<Join, Fork>(trace.steps[index].layers[0], tangents, aside);
  }
  return tangents;
}

torch::Tensor SecondPass::loss_tangents(const torch::Tensor& outputs,
                                        const torch::Tensor& output_tangents) const {
  if (loss_ == Loss::kSquaredError) return output_tangents;
  const torch::Tensor shares = at::softmax(outputs, 1);
  return shares * (output_tangents - (shares * output_tangents).sum(1, /*keepdim=*/true));
}

torch::Tensor input_gradient_by_autograd(const Model& model, const Params& at, const Params& direction,
                                         const Batch& batch) {
  const torch::AutoGradMode enabled(true);
  const torch::Tensor inputs = batch.inputs.detach().requires_grad_();
  const Params gradient = model.gradient(at, {inputs, batch.targets}, Graph::kKeep);
  const torch::Tensor product = (gradient.flat() * direction.flat()).sum();
  if (!product.requires_grad()) return torch::zeros_like(batch.inputs);
  const torch::Tensor result = torch::autograd::grad({product}, {inputs}, /*grad_outputs=*/{},
                                                     /*retain_graph=*/false, /*create_graph=*/false,
                                                     /*allow_unused=*/true)[0];
  return result.defined() ? result : torch::zeros_like(batch.inputs);
}

}  // namespace fedarena
