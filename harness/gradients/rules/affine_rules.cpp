// Affine maps and convolutions: gradients are products of inputs and deltas, so their norms need not hold
// them.
#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/rules/convolution.hpp"
#include "harness/gradients/rules/lane_rule.hpp"
#include "harness/gradients/rules/rule.hpp"

namespace fedarena {
namespace {

// The gradient of one example's weight is an outer product, whose norm is the product of two norms
// (Goodfellow 2015); the weighted sum is one matrix product.
class LinearRule final : public Rule {
 public:
  explicit LinearRule(std::vector<torch::Tensor> parameters) : parameters_(std::move(parameters)) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    inputs_ = inputs;
    return at::addmm(parameters_[1], inputs, parameters_[0].t());
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    deltas_ = deltas;
    return wanted ? at::mm(deltas, parameters_[0]) : torch::Tensor();
  }
  void add_lengths(Lengths& lengths) const override {
    lengths.add({kernels::squared_norms(inputs_), kernels::squared_norms(deltas_)},
                [](Length& own, const double* squared) {
                  const double input = squared[0], delta = squared[1];
                  own.squared += (input + 1) * delta;  // the bias has input one
                  own.inputs += std::sqrt(input);
                  own.reach += std::sqrt(input * delta);
                });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    const Scaled scaled = scale_examples(factors, inputs_, deltas_);
    sums[0].addmm_(scaled.deltas.t(), scaled.inputs);
    sums[1].add_(scaled.deltas.sum(0));
  }

 private:
  std::vector<torch::Tensor> parameters_;
  torch::Tensor inputs_, deltas_;
};

class Conv2dRule : public Rule {
 public:
  explicit Conv2dRule(std::unique_ptr<const Convolution> convolution)
      : convolution_(std::move(convolution)) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    inputs_ = inputs;
    return convolution_->outputs(inputs);
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    const Convolution::Deltas prepared = convolution_->prepare(deltas);
    take(prepared);
    return wanted ? convolution_->input_deltas(inputs_, prepared) : torch::Tensor();
  }

 protected:
  // What the rule wants of the gradients in weight and bias.
  virtual void take(const Convolution::Deltas& deltas) = 0;

  const Convolution& convolution() const { return *convolution_; }
  const torch::Tensor& inputs() const { return inputs_; }

 private:
  std::unique_ptr<const Convolution> convolution_;
  torch::Tensor inputs_;
};

// All examples at once.
class SummedConv2d final : public Conv2dRule {
 public:
  using Conv2dRule::Conv2dRule;

  void add_sum(const kernels::Factors& /*factors*/, std::span<const torch::Tensor> sums) const override {
    convolution().add(gradient_.weight, sums[0]);
    sums[1].add_(gradient_.bias);
  }

 private:
  void take(const Convolution::Deltas& deltas) override {
    gradient_ = convolution().gradient(inputs(), deltas);
  }

  Convolution::Gradient gradient_;
};

// Holds every example's gradient, and reads it for the sum.
class HeldConv2d final : public Conv2dRule {
 public:
  using Conv2dRule::Conv2dRule;

  void add_lengths(Lengths& lengths) const override {
    // Transformed inputs overflow before a convolution of them does.
    lengths.add({torch::tensor(squared_, torch::kFloat64), kernels::squared_norms(biases_),
                 kernels::squared_norms(inputs())},
                [](Length& own, const double* squared) {
                  own.squared += squared[0] + squared[1];
                  own.inputs += std::sqrt(squared[2]);
                });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    const torch::Tensor weight = at::zeros_like(weights_[0]);
    kernels::add_weighted_sum(factors, weights_, weight);
    convolution().add(weight, sums[0]);
    kernels::add_weighted_sum(factors, biases_, sums[1]);
  }

 private:
  void take(const Convolution::Deltas& deltas) override {
    convolution().weight_gradients(inputs(), deltas, [this](torch::Tensor weight, double squared) {
      squared_.push_back(squared);
      weights_.push_back(std::move(weight));
    });
    biases_ = deltas.plain.sum({2, 3});
  }

  std::vector<torch::Tensor> weights_;
  std::vector<double> squared_;
  torch::Tensor biases_;
};

// Ghost norms (Li et al. 2022; Bu et al. 2022): the squared norm of sum over positions t of d_t u_t' is the
// sum over s, t of <u_s, u_t> <d_s, d_t>. The products are taken in double, because what cancels between
// positions would leave single precision with rounding alone. The sum is a second pass over the weights with
// scaled deltas.
class GhostConv2d final : public Conv2dRule {
 public:
  using Conv2dRule::Conv2dRule;

  void add_lengths(Lengths& lengths) const override {
    const Conv2d& layer = convolution().layer();
    const torch::Tensor patches = at::im2col(inputs(), {layer.kernel, layer.kernel}, {1, 1},
                                             {layer.padding, layer.padding}, {layer.stride, layer.stride})
                                      .to(torch::kFloat64);
    const torch::Tensor deltas = deltas_.flatten(2).to(torch::kFloat64);
    const torch::Tensor patch_products =
        at::bmm(patches.transpose(1, 2), patches) + 1;  // the bias' input is one
    const torch::Tensor delta_products = at::bmm(deltas.transpose(1, 2), deltas);
    const torch::Tensor squared = (patch_products * delta_products).sum({1, 2});
    const torch::Tensor reach =
        (patch_products.diagonal(0, 1, 2) * delta_products.diagonal(0, 1, 2)).sqrt().sum(1);
    lengths.add({squared, reach, patches.square().sum({1, 2}).sqrt()},
                [](Length& own, const double* numbers) {
                  own.squared += numbers[0] < 0 ? 0 : numbers[0];  // NaN stays
                  own.reach += numbers[1];
                  own.inputs += numbers[2];
                });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    const Scaled scaled = scale_examples(factors, inputs(), deltas_);
    if (scaled.inputs.size(0) == 0) return;
    const Convolution::Gradient gradient =
        convolution().gradient(scaled.inputs, convolution().prepare(scaled.deltas));
    convolution().add(gradient.weight, sums[0]);
    sums[1].add_(gradient.bias);
  }

 private:
  void take(const Convolution::Deltas& deltas) override { deltas_ = deltas.plain; }

  torch::Tensor deltas_;
};

// Whether ghost norms are cheaper than holding gradients. Both cost one product of deltas and patches in all;
// beyond it, in multiplications of the processor: ghost norms cost products of all pairs of positions, in
// double at half the rate, and holding costs memory traffic for each weight.
bool prefer_ghost_norms(const Convolution& convolution, const torch::Tensor& inputs) {
  // Double is not precise enough for gradients in double that cancel between positions.
  if (inputs.scalar_type() != torch::kFloat32) return false;
  const Conv2d& layer = convolution.layer();
  const std::int64_t positions = layer.side(inputs.size(2)) * layer.side(inputs.size(3));
  const std::int64_t patch = layer.in * layer.kernel * layer.kernel;
  return 2 * positions * positions * (patch + layer.out) <
         convolution.traffic_of_a_weight() * patch * layer.out;
}

}  // namespace

Scaled scale_examples(const kernels::Factors& all_factors, const torch::Tensor& inputs,
                      const torch::Tensor& deltas) {
  const std::span<const double> factors = all_factors;
  const bool plain = std::all_of(factors.begin(), factors.end(), [](double factor) { return factor == 1; });
  if (plain) return {inputs, deltas};
  std::vector<std::int64_t> kept;
  std::vector<double> kept_factors;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] == 0) continue;
    kept.push_back(static_cast<std::int64_t>(i));
    kept_factors.push_back(factors[i]);
  }
  const auto scaled = [&](const torch::Tensor& rows) {
    std::vector<std::int64_t> column(static_cast<std::size_t>(rows.dim()), 1);
    column[0] = rows.size(0);
    const torch::Tensor scales = torch::tensor(kept_factors, torch::kFloat64)
                                     .to(rows.device(), torch::kFloat64, /*non_blocking=*/true)
                                     .view(column);
    return (rows.to(torch::kFloat64) * scales).to(rows.scalar_type());
  };
  if (kept.size() == factors.size()) return {inputs, scaled(deltas)};
  const torch::Tensor positions =
      torch::tensor(kept, torch::kInt64).to(deltas.device(), torch::kInt64, /*non_blocking=*/true);
  return {inputs.index_select(0, positions), scaled(deltas.index_select(0, positions))};
}

std::unique_ptr<Rule> make_linear_rule(std::vector<torch::Tensor> parameters) {
  return std::make_unique<LinearRule>(std::move(parameters));
}

std::unique_ptr<Rule> make_conv2d_rule(std::span<const Layer> layers, const LayerWeights& weights,
                                       const torch::Tensor& inputs, Want want) {
  const auto& layer = std::get<Conv2d>(layers[0]);
  if (works_in_lanes(layer, inputs)) {
    return std::make_unique<LaneConv2d>(layer, tail_of(layers), weights.parameters, want);
  }
  if (cuda::takes(inputs)) return make_product_rule(layer, weights.parameters, want);
  std::unique_ptr<const Convolution> convolution = make_convolution(layer, weights, inputs);
  if (want == Want::kSum) return std::make_unique<SummedConv2d>(std::move(convolution));
  if (prefer_ghost_norms(*convolution, inputs)) return std::make_unique<GhostConv2d>(std::move(convolution));
  return std::make_unique<HeldConv2d>(std::move(convolution));
}

}  // namespace fedarena
