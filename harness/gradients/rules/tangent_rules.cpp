#include <utility>
#include <variant>

#include <ATen/ATen.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/rules/norm_tangent.hpp"
#include "harness/gradients/rules/tangent_rule.hpp"

namespace fedarena {
namespace {

using kernels::Pooling;

// Layers without parameters are linear maps once it is known which inputs of a ReLU are positive and which of
// a window is the largest: tangents go through them as numbers do.
class ReluTangent final : public TangentRule {
 public:
  torch::Tensor forward(Moving& at) const override {
    return at.input_tangents.defined() ? mask(at, at.input_tangents) : torch::Tensor();
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    return mask(at, delta_tangents);
  }

 private:
  static torch::Tensor mask(const Moving& at, const torch::Tensor& values) {
    return at::threshold_backward(values, at.seen.inputs, 0);
  }
};

class FlattenTangent final : public TangentRule {
 public:
  torch::Tensor forward(Moving& at) const override {
    return at.input_tangents.defined() ? at.input_tangents.flatten(1) : torch::Tensor();
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    return delta_tangents.view(at.seen.inputs.sizes());
  }
};

class PoolTangent final : public TangentRule {
 public:
  PoolTangent(Pooling what, Pooling adjoint, std::int64_t size)
      : what_(what), adjoint_(adjoint), size_(size) {}

  torch::Tensor forward(Moving& at) const override {
    return at.input_tangents.defined() ? pooled(what_, at, at.input_tangents) : torch::Tensor();
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    return pooled(adjoint_, at, delta_tangents);
  }

 private:
  torch::Tensor pooled(Pooling what, const Moving& at, const torch::Tensor& from) const {
    return kernels::pool_planes(what, size_, at.seen.inputs.sizes(), at.seen.inputs, from);
  }

  Pooling what_, adjoint_;
  std::int64_t size_;
};

class LinearTangent final : public TangentRule {
 public:
  explicit LinearTangent(MovingParameters parameters) : parameters_(std::move(parameters)) {}

  torch::Tensor forward(Moving& at) const override {
    const auto& [weight, weight_tangent] = weights();
    torch::Tensor result = at::addmm(parameters_.direction[1], at.seen.inputs, weight_tangent.t());
    if (at.input_tangents.defined()) result.addmm_(at.input_tangents, weight.t());
    return result;
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    const auto& [weight, weight_tangent] = weights();
    return at::mm(delta_tangents, weight).addmm_(at.seen.deltas, weight_tangent);
  }

 private:
  std::pair<const torch::Tensor&, const torch::Tensor&> weights() const {
    return {parameters_.at[0], parameters_.direction[0]};
  }

  MovingParameters parameters_;
};

class GroupNormTangent final : public TangentRule {
 public:
  explicit GroupNormTangent(kernels::MovingNorm norm) : norm_(std::move(norm)) {}

  torch::Tensor forward(Moving& at) const override {
    if (!at.input_tangents.defined()) at.input_tangents = at::zeros_like(at.seen.inputs);
    kernels::NormTangent result = kernels::group_norm_tangent(at.seen.inputs, at.input_tangents, norm_);
    at.moments = result.moments;
    return result.outputs;
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    return kernels::group_norm_backward_tangent(at.seen.deltas, delta_tangents, at.seen.inputs,
                                                at.input_tangents, at.moments, norm_);
  }

 private:
  kernels::MovingNorm norm_;
};

}  // namespace

bool has_tangent_rule(const Layer& layer) {
  return has_rule(layer) && !std::holds_alternative<Embedding>(layer);
}

std::unique_ptr<TangentRule> make_tangent_rule(std::span<const Layer> layers, MovingParameters parameters,
                                               const torch::Tensor& inputs) {
  using Made = std::unique_ptr<TangentRule>;
  return std::visit(
      Overload{[&](const Conv2d& conv) -> Made {
                 return make_conv2d_tangent_rule(conv, std::move(parameters), inputs);
               },
               [&](const Linear&) -> Made { return std::make_unique<LinearTangent>(std::move(parameters)); },
               [&](const GroupNorm& norm) -> Made {
                 return std::make_unique<GroupNormTangent>(
                     kernels::MovingNorm{norm, tail_of(layers), parameters.at[0], parameters.at[1],
                                         parameters.direction[0], parameters.direction[1]});
               },
               [](const AveragePool& pool) -> Made {
                 return std::make_unique<PoolTangent>(Pooling::kAverage, Pooling::kAverageAdjoint, pool.size);
               },
               [](const MaxPool& pool) -> Made {
                 return std::make_unique<PoolTangent>(Pooling::kMaxTangent, Pooling::kMaxAdjoint, pool.size);
               },
               [](const Relu&) -> Made { return std::make_unique<ReluTangent>(); },
               [](const Flatten&) -> Made { return std::make_unique<FlattenTangent>(); },
               [](const auto&) -> Made { throw Bug("a layer without a tangent rule"); }},
      layers[0]);
}

}  // namespace fedarena
