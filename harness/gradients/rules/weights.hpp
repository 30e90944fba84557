#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "fedarena/model.hpp"

namespace fedarena {

/// A convolution's filters by tiles (winograd.hpp). Those of each kind are transformed once, by the first
/// thread that asks for them.
class TileFilters {
 public:
  explicit TileFilters(torch::Tensor weight) : weight_(std::move(weight)) {}

  const torch::Tensor& forward() const;  ///< [16, in, out], small tiles
  const torch::Tensor& adjoint() const;  ///< [36, out, in], large tiles

 private:
  torch::Tensor weight_;
  mutable std::once_flag has_forward_, has_adjoint_;
  mutable torch::Tensor forward_, adjoint_;
};

/// A layer's parameters, which are those from `first` on of the model's.
struct LayerWeights {
  std::size_t first = 0;
  std::vector<torch::Tensor> parameters;
  std::unique_ptr<const TileFilters> filters;  ///< of a convolution

  /// The layer's own of other parameters of the model, or of a gradient.
  std::vector<torch::Tensor> of(const Params& all) const;
};

/// A model at some parameters, both of which outlive it, for the passes of one call: what rules derive from
/// parameters is shared by all micro-batches.
class Weights {
 public:
  Weights(const Model& model, const Params& at);

  const Model& model() const { return model_; }
  const Params& at() const { return at_; }
  const LayerWeights& of(std::size_t layer) const { return layers_[layer]; }

 private:
  const Model& model_;
  const Params& at_;
  std::vector<LayerWeights> layers_;
};

}  // namespace fedarena
