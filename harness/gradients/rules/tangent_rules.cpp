#include <functional>
#include <utility>
#include <variant>

#include <ATen/ATen.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/kernels/patches.hpp"
#include "harness/gradients/kernels/winograd.hpp"
#include "harness/gradients/rules/convolution.hpp"
#include "harness/gradients/rules/tangent_rule.hpp"

namespace fedarena {
namespace {

using kernels::Pooling;
using kernels::Tile;

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

// Convolutions: the outputs move by W * dx + dW * x, and the gradients in the inputs by the adjoint of W on
// how the outputs' gradients move plus that of dW on these gradients.

// Adjoints as products of matrices, whose columns are added up where patches overlap, or, of strides,
// LibTorch's.
class PatchTangent final : public TangentRule {
 public:
  PatchTangent(const Conv2d& layer, MovingParameters parameters)
      : layer_(layer), parameters_(std::move(parameters)) {}

  torch::Tensor forward(Moving& at) const override {
    torch::Tensor result = convolve(at.seen.inputs, parameters_.direction[0], parameters_.direction[1]);
    if (at.input_tangents.defined()) {
      result += convolve(at.input_tangents, parameters_.at[0], at::zeros_like(parameters_.at[1]));
    }
    return result;
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    if (layer_.stride > 1) {
      const auto adjoint = [&](const torch::Tensor& weight, const torch::Tensor& deltas) {
        return convolution_gradients(layer_, at.seen.inputs, deltas, weight, {true, false, false})[0];
      };
      return adjoint(parameters_.at[0], delta_tangents) + adjoint(parameters_.direction[0], at.seen.deltas);
    }
    torch::Tensor result = at::zeros_like(at.seen.inputs);
    kernels::add_input_deltas_of_patches(layer_, parameters_.at[0], delta_tangents, result);
    kernels::add_input_deltas_of_patches(layer_, parameters_.direction[0], at.seen.deltas, result);
    return result;
  }

 private:
  torch::Tensor convolve(const torch::Tensor& inputs, const torch::Tensor& weight,
                         const torch::Tensor& bias) const {
    if (kernels::prefer_patches(layer_)) return kernels::outputs_of_patches(layer_, inputs, weight, bias);
    return at::conv2d(inputs, weight, bias, layer_.stride, layer_.padding).contiguous();
  }

  Conv2d layer_;
  MovingParameters parameters_;
};

// Both convolutions of a sum are added up before they are brought back: one product of matrices, of moving
// and still inputs side by side and of both filters one above the other.
class WinogradTangent final : public TangentRule {
 public:
  WinogradTangent(const Conv2d& layer, const MovingParameters& parameters)
      : layer_(layer), bias_tangent_(parameters.direction[1]) {
    const torch::Tensor &weight = parameters.at[0], &weight_tangent = parameters.direction[0];
    filters_ = kernels::places(Tile::kLarge, 2 * layer.in, layer.out, weight.options());
    kernels::transform_filters(weight, filters_.narrow(1, 0, layer.in));
    kernels::transform_filters(weight_tangent, filters_.narrow(1, layer.in, layer.in));
    adjoint_filters_ = kernels::places(Tile::kLarge, 2 * layer.out, layer.in, weight.options());
    kernels::transform_adjoint_filters(weight, adjoint_filters_.narrow(1, 0, layer.out));
    kernels::transform_adjoint_filters(weight_tangent, adjoint_filters_.narrow(1, layer.out, layer.out));
  }

  torch::Tensor forward(Moving& at) const override {
    const kernels::TileGrid tiles = grid(at);
    const torch::Tensor &inputs = at.seen.inputs, &tangents = at.input_tangents;
    const std::int64_t moving = tangents.defined() ? layer_.in : 0;
    const torch::Tensor both =
        kernels::places(Tile::kLarge, tiles.tiles(), moving + layer_.in, inputs.options());
    if (tangents.defined()) kernels::transform_inputs(tangents, tiles, both.narrow(2, 0, moving));
    kernels::transform_inputs(inputs, tiles, both.narrow(2, moving, layer_.in));
    const torch::Tensor sum = kernels::products_of_places(
        Tile::kLarge, both, filters_.narrow(1, layer_.in - moving, moving + layer_.in));
    return kernels::outputs_of_tiles(sum, tiles, bias_tangent_);
  }
  torch::Tensor backward(const Moving& at, const torch::Tensor& delta_tangents) const override {
    const kernels::TileGrid tiles = grid(at);
    const torch::Tensor both =
        kernels::places(Tile::kLarge, tiles.tiles(), 2 * layer_.out, delta_tangents.options());
    kernels::transform_deltas(delta_tangents, tiles, both.narrow(2, 0, layer_.out));
    kernels::transform_deltas(at.seen.deltas, tiles, both.narrow(2, layer_.out, layer_.out));
    return kernels::input_deltas_of_tiles(kernels::products_of_places(Tile::kLarge, both, adjoint_filters_),
                                          tiles);
  }

 private:
  kernels::TileGrid grid(const Moving& at) const {
    const torch::Tensor& inputs = at.seen.inputs;
    return {layer_, inputs.size(0), inputs.size(2), inputs.size(3)};
  }

  Conv2d layer_;
  torch::Tensor filters_;          // [36, 2 * in, out]
  torch::Tensor adjoint_filters_;  // [36, 2 * out, in]
  torch::Tensor bias_tangent_;
};

std::unique_ptr<TangentRule> make_conv2d_tangent_rule(const Conv2d& layer, MovingParameters parameters,
                                                      const torch::Tensor& inputs) {
  if (cuda::takes(inputs)) return make_product_tangent_rule(layer, std::move(parameters));
  if (kernels::prefer_tiles(layer, inputs)) return std::make_unique<WinogradTangent>(layer, parameters);
  return std::make_unique<PatchTangent>(layer, std::move(parameters));
}

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
