// Convolutions on a GPU, as products of the weight's matrix and each example's patches (cuda/patches.hpp), by
// cuBLAS: outputs and bias at once, gradients in the inputs as the transpose, and each example's own gradient
// in the weight, whose bias comes with it.
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/rules/rule.hpp"
#include "harness/gradients/rules/tangent_rule.hpp"

namespace fedarena {
namespace {

// [out, taps]
torch::Tensor taps_of(const torch::Tensor& weight) { return weight.view({weight.size(0), -1}); }

// One matrix beside each example's, without copies.
torch::Tensor repeated(std::int64_t examples, const torch::Tensor& matrix) {
  return matrix.unsqueeze(0).expand({examples, -1, -1});
}

torch::Tensor repeated_transpose(std::int64_t examples, const torch::Tensor& weight) {
  return repeated(examples, taps_of(weight).t());
}

std::vector<std::int64_t> outputs_shape(const Conv2d& layer, const torch::Tensor& inputs) {
  return {inputs.size(0), layer.out, layer.side(inputs.size(2)), layer.side(inputs.size(3))};
}

class ProductRule final : public Rule {
 public:
  ProductRule(const Conv2d& layer, std::vector<torch::Tensor> parameters, Want want)
      : layer_(layer), parameters_(std::move(parameters)), want_(want) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    inputs_ = inputs;
    patches_ = cuda::patches_of(layer_, inputs);
    const torch::Tensor matrix = cuda::weight_matrix(parameters_[0], parameters_[1], patches_.size(1));
    return at::bmm(repeated(inputs.size(0), matrix), patches_).view(outputs_shape(layer_, inputs));
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    const torch::Tensor rows = deltas.flatten(2);
    gradients_ = at::bmm(rows, patches_.transpose(1, 2));
    patches_ = torch::Tensor();
    if (want_ == Want::kSum) gradients_ = gradients_.sum(0);
    if (!wanted) return {};
    const torch::Tensor back = at::bmm(repeated_transpose(rows.size(0), parameters_[0]), rows);
    return cuda::add_patches(layer_, back, inputs_.sizes());
  }
  void add_lengths(Lengths& lengths) const override {
    // Sums over positions overflow before the inputs' norm does.
    lengths.add({kernels::squared_norms(gradients_), kernels::squared_norms(inputs_)},
                [](Length& own, const double* squared) {
                  own.squared += squared[0];
                  own.inputs += std::sqrt(squared[1]);
                });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    torch::Tensor sum = gradients_;
    if (want_ == Want::kPerExample) {
      sum = at::zeros_like(gradients_[0]);
      kernels::add_weighted_sum(factors, gradients_, sum);
    }
    const torch::Tensor weight = taps_of(sums[0]);
    weight.add_(sum.narrow(1, 0, weight.size(1)));
    sums[1].add_(sum.select(1, weight.size(1)));
  }

 private:
  Conv2d layer_;
  std::vector<torch::Tensor> parameters_;
  Want want_;
  torch::Tensor inputs_, patches_;
  torch::Tensor gradients_;  // [n, out, rows], or their sum
};

// W moves by dW: the outputs move by W * dx + dW * x, and the gradients in the inputs by the adjoint of W on
// how the outputs' gradients move plus that of dW on these gradients.
class ProductTangent final : public TangentRule {
 public:
  ProductTangent(const Conv2d& layer, MovingParameters parameters)
      : layer_(layer), parameters_(std::move(parameters)) {}

  torch::Tensor forward(Moving& at) const override {
    const torch::Tensor& inputs = at.seen.inputs;
    const torch::Tensor patches = cuda::patches_of(layer_, inputs);
    const torch::Tensor matrix =
        cuda::weight_matrix(parameters_.direction[0], parameters_.direction[1], patches.size(1));
    torch::Tensor result = at::bmm(repeated(inputs.size(0), matrix), patches);
    if (at.input_tangents.defined()) {
      const torch::Tensor moving = cuda::patches_of(layer_, at.input_tangents.contiguous());
      const torch::Tensor taps = taps_of(parameters_.at[0]);
      result.baddbmm_(repeated(inputs.size(0), taps), moving.narrow(1, 0, taps.size(1)));
    }
    return result.view(outputs_shape(layer_, inputs));
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    const std::int64_t examples = delta_tangents.size(0);
    torch::Tensor back = at::bmm(repeated_transpose(examples, parameters_.at[0]), delta_tangents.flatten(2));
    back.baddbmm_(repeated_transpose(examples, parameters_.direction[0]), at.seen.deltas.flatten(2));
    return cuda::add_patches(layer_, back, at.seen.inputs.sizes());
  }

 private:
  Conv2d layer_;
  MovingParameters parameters_;
};

}  // namespace

std::unique_ptr<Rule> make_product_rule(const Conv2d& layer, std::vector<torch::Tensor> parameters,
                                        Want want) {
  return std::make_unique<ProductRule>(layer, std::move(parameters), want);
}

std::unique_ptr<TangentRule> make_product_tangent_rule(const Conv2d& layer, MovingParameters parameters) {
  return std::make_unique<ProductTangent>(layer, std::move(parameters));
}

}  // namespace fedarena
