#include <functional>
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
class MapTangent final : public TangentRule {
 public:
  using Map = std::function<torch::Tensor(const torch::Tensor& inputs, const torch::Tensor& values)>;
  MapTangent(Map map, Map adjoint) : map_(std::move(map)), adjoint_(std::move(adjoint)) {}

  torch::Tensor forward(Moving& at) const override {
    return at.input_tangents.defined() ? map_(at.seen.inputs, at.input_tangents) : torch::Tensor();
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    return adjoint_(at.seen.inputs, delta_tangents);
  }

 private:
  Map map_, adjoint_;
};

MapTangent::Map pooling(Pooling what, std::int64_t size) {
  return [=](const torch::Tensor& inputs, const torch::Tensor& values) {
    return kernels::pool_planes(what, size, inputs.sizes(), inputs, values);
  };
}

torch::Tensor where_positive(const torch::Tensor& inputs, const torch::Tensor& values) {
  return at::threshold_backward(values, inputs, 0);
}

torch::Tensor flattened(const torch::Tensor& /*inputs*/, const torch::Tensor& values) {
  return values.flatten(1);
}

torch::Tensor unflattened(const torch::Tensor& inputs, const torch::Tensor& values) {
  return values.view(inputs.sizes());
}

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
      Overload{
          [&](const Conv2d& conv) -> Made {
            return make_conv2d_tangent_rule(conv, std::move(parameters), inputs);
          },
          [&](const Linear&) -> Made { return std::make_unique<LinearTangent>(std::move(parameters)); },
          [&](const GroupNorm&) -> Made {
            return std::make_unique<GroupNormTangent>(kernels::MovingNorm{
                norm_of(layers, parameters.at), parameters.direction[0], parameters.direction[1]});
          },
          [](const AveragePool& pool) -> Made {
            return std::make_unique<MapTangent>(pooling(Pooling::kAverage, pool.size),
                                                pooling(Pooling::kAverageAdjoint, pool.size));
          },
          [](const MaxPool& pool) -> Made {
            return std::make_unique<MapTangent>(pooling(Pooling::kMaxTangent, pool.size),
                                                pooling(Pooling::kMaxAdjoint, pool.size));
          },
          [](const Relu&) -> Made { return std::make_unique<MapTangent>(where_positive, where_positive); },
          [](const Flatten&) -> Made { return std::make_unique<MapTangent>(flattened, unflattened); },
          [](const auto&) -> Made { throw Bug("a layer without a tangent rule"); }},
      layers[0]);
}

}  // namespace fedarena
