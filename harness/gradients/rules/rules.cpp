// Layers with few or no parameters; their per-example gradients are held.
#include <utility>
#include <variant>

#include <ATen/ATen.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/rules/lane_rule.hpp"
#include "harness/gradients/rules/rule.hpp"

namespace fedarena {
namespace {

using kernels::Pooling;

class ReluRule final : public Rule {
 public:
  torch::Tensor forward(const torch::Tensor& inputs) override { return outputs_ = at::relu(inputs); }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    return wanted ? at::threshold_backward(deltas, outputs_, 0) : torch::Tensor();
  }

 private:
  torch::Tensor outputs_;
};

class FlattenRule final : public Rule {
 public:
  torch::Tensor forward(const torch::Tensor& inputs) override {
    shape_ = inputs.sizes().vec();
    return inputs.flatten(1);
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    return wanted ? deltas.view(shape_) : torch::Tensor();
  }

 private:
  std::vector<std::int64_t> shape_;
};

class PoolRule final : public Rule {
 public:
  PoolRule(Pooling what, std::int64_t size) : what_(what), size_(size) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    shape_ = inputs.sizes().vec();
    if (what_ == Pooling::kMax) inputs_ = inputs;
    return kernels::pool_planes(what_, size_, shape_, inputs_, inputs);
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    if (!wanted) return {};
    const Pooling adjoint = what_ == Pooling::kMax ? Pooling::kMaxAdjoint : Pooling::kAverageAdjoint;
    return kernels::pool_planes(adjoint, size_, shape_, inputs_, deltas);
  }

 private:
  Pooling what_;
  std::int64_t size_;
  std::vector<std::int64_t> shape_;
  torch::Tensor inputs_;  // of a mean nobody needs them again
};

class GroupNormRule final : public Rule {
 public:
  explicit GroupNormRule(kernels::Norm norm) : norm_(std::move(norm)) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    inputs_ = inputs;
    forward_ = kernels::group_norm(inputs, norm_);
    return std::exchange(forward_.outputs, torch::Tensor());
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool /*wanted*/) override {
    gradient_ = kernels::group_norm_backward(deltas, inputs_, forward_, norm_);
    return std::exchange(gradient_.inputs, torch::Tensor());
  }
  void add_lengths(Lengths& lengths) const override {
    lengths.add({kernels::squared_norms(gradient_.weight), kernels::squared_norms(gradient_.bias)},
                [](Length& own, const double* squared) { own.squared += squared[0] + squared[1]; });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    kernels::add_weighted_sum(factors, gradient_.weight, sums[0]);
    kernels::add_weighted_sum(factors, gradient_.bias, sums[1]);
  }

 private:
  kernels::Norm norm_;
  torch::Tensor inputs_;
  kernels::Normalised forward_;
  kernels::NormGradient gradient_;
};

}  // namespace

void Lengths::add(const std::vector<torch::Tensor>& tensors, Use use) {
  tensors_.insert(tensors_.end(), tensors.begin(), tensors.end());
  additions_.push_back({tensors.size(), std::move(use)});
}

std::vector<Length> Lengths::read(std::int64_t examples) const {
  std::vector<Length> result(static_cast<std::size_t>(examples));
  if (tensors_.empty()) return result;
  const std::vector<double> all = kernels::to_vector(at::stack(tensors_, 1));
  const double* numbers = all.data();
  for (Length& own : result) {
    for (const Addition& addition : additions_) {
      addition.use(own, numbers);
      numbers += addition.tensors;
    }
  }
  return result;
}

bool has_rule(const Layer& layer) {
  return !std::holds_alternative<BatchNorm>(layer) && !std::holds_alternative<Custom>(layer);
}

bool works_in_lanes(const Conv2d& layer, const torch::Tensor& inputs) {
  return !cuda::takes(inputs) && prefer_lanes(layer, inputs.size(0));
}

std::size_t layers_of_next_rule(std::span<const Layer> layers, const torch::Tensor& inputs, bool traced) {
  const auto follows = [&](std::size_t index, auto kind) {
    return index < layers.size() && std::holds_alternative<decltype(kind)>(layers[index]);
  };
  if (std::holds_alternative<GroupNorm>(layers[0])) {
    return !follows(1, Relu{}) ? 1 : follows(2, AveragePool{}) ? 3 : 2;
  }
  const auto* conv = std::get_if<Conv2d>(layers.data());
  if (conv == nullptr || traced || !works_in_lanes(*conv, inputs)) return 1;
  return !follows(1, Relu{}) ? 1 : follows(2, MaxPool{}) ? 3 : 2;
}

kernels::Tail tail_of(std::span<const Layer> layers) {
  kernels::Tail tail{.relu = layers.size() > 1};
  if (layers.size() < 3) return tail;
  const auto* averages = std::get_if<AveragePool>(&layers[2]);
  tail.pool = averages != nullptr ? averages->size : std::get<MaxPool>(layers[2]).size;
  return tail;
}

kernels::Norm norm_of(std::span<const Layer> layers, const std::vector<torch::Tensor>& parameters) {
  return {std::get<GroupNorm>(layers[0]), tail_of(layers), parameters[0], parameters[1]};
}

std::unique_ptr<Rule> make_rule(std::span<const Layer> layers, const LayerWeights& weights,
                                const torch::Tensor& inputs, Want want) {
  using Made = std::unique_ptr<Rule>;
  return std::visit(
      Overload{
          [&](const Conv2d&) -> Made { return make_conv2d_rule(layers, weights, inputs, want); },
          [&](const Linear&) -> Made { return make_linear_rule(weights.parameters); },
          [&](const GroupNorm&) -> Made {
            return std::make_unique<GroupNormRule>(norm_of(layers, weights.parameters));
          },
          [&](const Embedding& embedding) -> Made {
            return make_embedding_rule(embedding, weights.parameters, inputs);
          },
          [](const AveragePool& pool) -> Made {
            return std::make_unique<PoolRule>(Pooling::kAverage, pool.size);
          },
          [](const MaxPool& pool) -> Made { return std::make_unique<PoolRule>(Pooling::kMax, pool.size); },
          [](const Relu&) -> Made { return std::make_unique<ReluRule>(); },
          [](const Flatten&) -> Made { return std::make_unique<FlattenRule>(); },
          [](const auto&) -> Made { throw Bug("a layer without a per-example rule"); }},
      layers[0]);
}

}  // namespace fedarena
