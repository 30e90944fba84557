#include "harness/gradients/rules/weights.hpp"

#include <variant>

#include "fedarena/base/overload.hpp"

#include "harness/gradients/kernels/winograd.hpp"

namespace fedarena {
namespace {

std::size_t parameter_count(const Layer& layer) {
  return std::visit(Overload{[](const Conv2d&) { return 2; }, [](const GroupNorm&) { return 2; },
                             [](const Linear&) { return 2; }, [](const Embedding&) { return 1; },
                             [](const auto&) { return 0; }},
                    layer);
}

}  // namespace

const torch::Tensor& TileFilters::forward() const {
  std::call_once(has_forward_, [this] {
    forward_ = kernels::places(kernels::Tile::kSmall, weight_.size(1), weight_.size(0), weight_.options());
    kernels::transform_filters(weight_, forward_);
  });
  return forward_;
}

const torch::Tensor& TileFilters::adjoint() const {
  std::call_once(has_adjoint_, [this] {
    adjoint_ = kernels::places(kernels::Tile::kLarge, weight_.size(0), weight_.size(1), weight_.options());
    kernels::transform_adjoint_filters(weight_, adjoint_);
  });
  return adjoint_;
}

std::vector<torch::Tensor> LayerWeights::of(const Params& all) const {
  std::vector<torch::Tensor> own;
  while (own.size() < parameters.size()) own.push_back(all[first + own.size()]);
  return own;
}

Weights::Weights(const Model& model, const Params& at) : model_(model), at_(at) {
  model.check(at);
  std::size_t next = 0;
  for (const Layer& layer : model.architecture().layers) {
    LayerWeights& weights = layers_.emplace_back();
    weights.first = next;
    for (std::size_t left = parameter_count(layer); left > 0; --left) {
      weights.parameters.push_back(at[next++]);
    }
    if (std::holds_alternative<Conv2d>(layer)) {
      weights.filters = std::make_unique<const TileFilters>(weights.parameters[0]);
    }
  }
}

}  // namespace fedarena
