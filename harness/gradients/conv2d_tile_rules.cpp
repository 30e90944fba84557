// Convolutions with 3x3 kernels and many channels: all three products go by tiles. Outputs take small ones,
// because their rounding decides which inputs of a ReLU are positive; gradients take large ones.
#include <cmath>
#include <cstdint>

#include <ATen/ATen.h>

#include "harness/gradients/rule.hpp"
#include "harness/gradients/winograd.hpp"

namespace fedarena {
namespace {

using kernels::Tile;
using kernels::TileGrid;

class TileConv2d : public Rule {
 public:
  TileConv2d(const Conv2d& layer, const LayerWeights& weights, const torch::Tensor& inputs)
      : layer_(layer), weights_(weights), grid_(grid_of(inputs, Tile::kLarge)) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    inputs_ = inputs;
    const TileGrid small = grid_of(inputs, Tile::kSmall);
    torch::Tensor products = kernels::places(Tile::kSmall, small.tiles(), layer_.out, inputs.options());
    at::bmm_out(products, tiles_of_inputs(inputs, small), weights_.filters->forward());
    return kernels::outputs_of_tiles(products, small, weights_.parameters[1]);
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override {
    deltas_ = deltas;
    const torch::Tensor tiles = tiles_of_deltas(deltas, grid_);
    take_weight_gradient(tiles);
    if (!wanted) return {};
    torch::Tensor products = kernels::places(Tile::kLarge, grid_.tiles(), layer_.in, deltas.options());
    at::bmm_out(products, tiles, weights_.filters->adjoint());
    return kernels::input_deltas_of_tiles(products, grid_);
  }

 protected:
  // What the pass wants of the weight's gradient, from transformed deltas.
  virtual void take_weight_gradient(const torch::Tensor& deltas) = 0;

  TileGrid grid_of(const torch::Tensor& inputs, Tile tile) const {
    return {layer_, inputs.size(0), inputs.size(2), inputs.size(3), tile};
  }
  torch::Tensor tiles_of_inputs(const torch::Tensor& inputs, const TileGrid& grid) const {
    torch::Tensor tiles = kernels::places(grid.tile, grid.tiles(), layer_.in, inputs.options());
    kernels::transform_inputs(inputs, grid, tiles);
    return tiles;
  }
  torch::Tensor tiles_of_deltas(const torch::Tensor& deltas, const TileGrid& grid) const {
    torch::Tensor tiles = kernels::places(grid.tile, grid.tiles(), layer_.out, deltas.options());
    kernels::transform_deltas(deltas, grid, tiles);
    return tiles;
  }
  const Conv2d& layer() const { return layer_; }
  const TileGrid& grid() const { return grid_; }  // of large tiles
  const torch::Tensor& inputs() const { return inputs_; }
  const torch::Tensor& deltas() const { return deltas_; }

 private:
  Conv2d layer_;
  const LayerWeights& weights_;
  TileGrid grid_;
  torch::Tensor inputs_, deltas_;
};

class SummedTileConv2d final : public TileConv2d {
 public:
  using TileConv2d::TileConv2d;

  void add_sum(std::span<const double> /*factors*/, std::span<const torch::Tensor> sums) const override {
    kernels::add_taps(taps_, sums[0]);
    sums[1].add_(deltas().sum({0, 2, 3}));
  }

 private:
  void take_weight_gradient(const torch::Tensor& deltas) override {
    taps_ = kernels::weight_deltas_of_tiles(deltas, tiles_of_inputs(inputs(), grid()));
  }

  torch::Tensor taps_;
};

// Reads every example's gradient twice, for its norm while it is in cache and for the sum.
class HeldTileConv2d final : public TileConv2d {
 public:
  using TileConv2d::TileConv2d;

  void add_lengths(Lengths& lengths) const override {
    const std::vector<double> biases = kernels::squared_norms(biases_);
    // Transforms of inputs overflow before a convolution of them does.
    const std::vector<double> inputs = kernels::squared_norms(this->inputs());
    for (std::size_t i = 0; i < squared_.size(); ++i) {
      lengths.squared[i] += squared_[i] + biases[i];
      lengths.inputs[i] += std::sqrt(inputs[i]);
    }
  }
  void add_sum(std::span<const double> factors, std::span<const torch::Tensor> sums) const override {
    const torch::Tensor taps = at::zeros_like(taps_[0]);
    kernels::add_weighted_sum(factors, taps_, taps);
    kernels::add_taps(taps, sums[0]);
    kernels::add_weighted_sum(factors, biases_, sums[1]);
  }

 private:
  void take_weight_gradient(const torch::Tensor& deltas) override {
    const torch::Tensor inputs = tiles_of_inputs(this->inputs(), grid());
    const std::int64_t tiles = grid().tiles_of_example();
    for (std::int64_t i = 0; i < grid().examples; ++i) {
      taps_.push_back(kernels::weight_deltas_of_tiles(deltas, inputs, i * tiles, tiles));
      squared_.push_back(kernels::squared_norm(taps_.back()));
    }
    biases_ = this->deltas().sum({2, 3});
  }

  std::vector<torch::Tensor> taps_;
  std::vector<double> squared_;
  torch::Tensor biases_;
};

class GhostTileConv2d final : public TileConv2d {
 public:
  using TileConv2d::TileConv2d;

  void add_lengths(Lengths& lengths) const override {
    add_ghost_lengths(layer(), inputs(), deltas(), lengths);
  }
  void add_sum(std::span<const double> factors, std::span<const torch::Tensor> sums) const override {
    const Scaled scaled = scale_examples(factors, inputs(), deltas());
    if (scaled.inputs.size(0) == 0) return;
    const TileGrid grid = grid_of(scaled.inputs, Tile::kLarge);
    kernels::add_taps(kernels::weight_deltas_of_tiles(tiles_of_deltas(scaled.deltas, grid),
                                                      tiles_of_inputs(scaled.inputs, grid)),
                      sums[0]);
    sums[1].add_(scaled.deltas.sum({0, 2, 3}));
  }

 private:
  void take_weight_gradient(const torch::Tensor& /*deltas*/) override {}  // once factors are known
};

}  // namespace

std::unique_ptr<Rule> make_conv2d_tile_rule(const Conv2d& layer, const LayerWeights& weights,
                                            const torch::Tensor& inputs, Want want) {
  if (want == Want::kSum) return std::make_unique<SummedTileConv2d>(layer, weights, inputs);
  constexpr std::int64_t kTrafficOfAWeight = 40;  // measured with 128 channels and 8x8 positions
  if (prefer_ghost_norms(layer, inputs, kTrafficOfAWeight)) {
    return std::make_unique<GhostTileConv2d>(layer, weights, inputs);
  }
  return std::make_unique<HeldTileConv2d>(layer, weights, inputs);
}

}  // namespace fedarena
