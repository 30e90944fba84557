#include "harness/gradients/engine/pass.hpp"

#include <algorithm>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/engine/marks.hpp"

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

Trace Trace::examples(std::int64_t begin, std::int64_t end) const {
  const auto part = [&](const torch::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, begin, end - begin) : tensor;
  };
  Trace result{{}, part(outputs)};
  for (const Seen& step : steps) {
    result.steps.push_back(step);
    result.steps.back().inputs = part(step.inputs);
    result.steps.back().deltas = part(step.deltas);
  }
  return result;
}

bool has_rules(const Model& model) {
  const auto& layers = model.architecture().layers;
  const torch::Device device = model.options().device();
  return (device.is_cpu() || cuda::takes(device)) && std::all_of(layers.begin(), layers.end(), has_rule);
}

void Pass::run(const Batch& batch, Trace* trace) {
  torch::Tensor deltas = loss_deltas(forward(batch.inputs, trace), batch.targets);
  if (want_ == Want::kSum) deltas = deltas / static_cast<double>(batch.size());  // of the mean
  backward(deltas, /*to_inputs=*/false, trace);
}

torch::Tensor Pass::forward(const torch::Tensor& inputs, Trace* trace) {
  torch::Tensor value = inputs.contiguous();
  const std::span<const Layer> all = weights_.model().architecture().layers;
  std::span<const Layer> rest = all;
  Aside aside;
  while (!rest.empty()) {
    const bool mark = is_mark(rest[0]);
    const auto layers = rest.first(mark ? 1 : layers_of_next_rule(rest, value, trace != nullptr));
    const LayerWeights& weights = weights_.of(all.size() - rest.size());
    rest = rest.subspan(layers.size());
    if (trace != nullptr) trace->steps.push_back({layers, &weights, value, {}});
    steps_.push_back({mark ? nullptr : make_rule(layers, weights, value, want_), layers, weights});
    value = mark ? pass_mark<Fork, Join>(layers[0], value, aside)
                 : steps_.back().rule->forward(value).contiguous();
  }
  if (trace != nullptr) trace->outputs = value;
  return value;
}

torch::Tensor Pass::backward(torch::Tensor deltas, bool to_inputs, Trace* trace) {
  Aside aside;
  for (std::size_t index = steps_.size(); index-- > 0;) {
    const Step& step = steps_[index];
    if (!step.rule) {
      deltas = pass_mark<Join, Fork>(step.layers[0], deltas, aside);
      continue;
    }
    deltas = deltas.contiguous();
    if (trace != nullptr) trace->steps[index].deltas = deltas;
    deltas = step.rule->backward(deltas, to_inputs || step.weights.first > 0);
    if (!deltas.defined()) break;
  }
  return deltas;
}

std::vector<Length> Pass::lengths(std::int64_t examples) const {
  Lengths all;
  for (const Step& step : steps_) {
    if (step.rule) step.rule->add_lengths(all);
  }
  return all.read(examples);
}

void Pass::add_sum(const kernels::Factors& factors, const Params& sum) const {
  for (const Step& step : steps_) {
    if (step.rule) step.rule->add_sum(factors, step.weights.of(sum));
  }
}

// Gradient of each example's own loss in its outputs.
torch::Tensor Pass::loss_deltas(const torch::Tensor& outputs, const torch::Tensor& targets) const {
  const bool labels = !targets.is_floating_point();
  const torch::Tensor wanted =
      labels ? at::one_hot(targets, weights_.model().num_classes()).to(outputs.scalar_type()) : targets;
  if (weights_.model().architecture().loss == Loss::kCrossEntropy) return at::softmax(outputs, 1) - wanted;
  return outputs - wanted;
}

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
