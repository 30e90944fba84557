#include "harness/gradients/rules/convolution.hpp"

#include <array>
#include <utility>

#include <ATen/ATen.h>

#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/kernels/patches.hpp"
#include "harness/gradients/kernels/winograd.hpp"

namespace fedarena {
namespace {

using kernels::Tile;
using kernels::TileGrid;

// While the gradient is in a cache.
void take_with_norm(torch::Tensor gradient, const std::function<void(torch::Tensor, double)>& take) {
  const double squared = kernels::squared_norm(gradient);
  take(std::move(gradient), squared);
}

class LibTorchConvolution final : public Convolution {
 public:
  using Convolution::Convolution;

  torch::Tensor outputs(const torch::Tensor& inputs) const override {
    return at::conv2d(inputs, weights().parameters[0], weights().parameters[1], layer().stride,
                      layer().padding);
  }
  torch::Tensor input_deltas(const torch::Tensor& inputs, const Deltas& deltas) const override {
    return gradients(inputs, deltas.plain, {true, false, false})[0];
  }
  Gradient gradient(const torch::Tensor& inputs, const Deltas& deltas) const override {
    const auto [none, weight, bias] = gradients(inputs, deltas.plain, {false, true, true});
    return {weight, bias};
  }
  // One convolution_backward an example.
  void weight_gradients(const torch::Tensor& inputs, const Deltas& deltas,
                        const std::function<void(torch::Tensor, double)>& take) const override {
    for (std::int64_t i = 0; i < inputs.size(0); ++i) {
      take_with_norm(gradients(inputs.narrow(0, i, 1), deltas.plain.narrow(0, i, 1), {false, true, false})[1]
                         .contiguous(),
                     take);
    }
  }
  void add(const torch::Tensor& gradient, const torch::Tensor& weight) const override {
    weight.add_(gradient);
  }
  std::int64_t traffic_of_a_weight() const override {
    constexpr std::int64_t kMeasured = 70;  // 128 channels, 8x8 positions
    return kMeasured;
  }

 private:
  std::array<torch::Tensor, 3> gradients(const torch::Tensor& inputs, const torch::Tensor& deltas,
                                         std::array<bool, 3> wanted) const {
    return convolution_gradients(layer(), inputs, deltas, weights().parameters[0], wanted);
  }
};

// Few channels, many outputs.
class PatchConvolution final : public Convolution {
 public:
  using Convolution::Convolution;

  torch::Tensor outputs(const torch::Tensor& inputs) const override {
    return kernels::outputs_of_patches(layer(), inputs, weights().parameters[0], weights().parameters[1]);
  }
  torch::Tensor input_deltas(const torch::Tensor& inputs, const Deltas& deltas) const override {
    torch::Tensor result = at::zeros_like(inputs);
    kernels::add_input_deltas_of_patches(layer(), weights().parameters[0], deltas.plain, result);
    return result;
  }
  Gradient gradient(const torch::Tensor& inputs, const Deltas& deltas) const override {
    return {kernels::weight_deltas_of_patches(layer(), inputs, deltas.plain), deltas.plain.sum({0, 2, 3})};
  }
  void weight_gradients(const torch::Tensor& inputs, const Deltas& deltas,
                        const std::function<void(torch::Tensor, double)>& take) const override {
    for (std::int64_t i = 0; i < inputs.size(0); ++i) {
      take_with_norm(
          kernels::weight_deltas_of_patches(layer(), inputs.narrow(0, i, 1), deltas.plain.narrow(0, i, 1)),
          take);
    }
  }
  void add(const torch::Tensor& gradient, const torch::Tensor& weight) const override {
    torch::Tensor rows = weight.view({weight.size(0), -1});
    rows += gradient.narrow(1, 0, rows.size(1));
  }
  // So few weights that holding them costs nothing.
  std::int64_t traffic_of_a_weight() const override { return 0; }
};

// Outputs take small tiles, because their rounding decides which inputs of a ReLU are positive; gradients
// take large ones.
class TileConvolution final : public Convolution {
 public:
  TileConvolution(const Conv2d& layer, const LayerWeights& weights, const torch::Tensor& inputs)
      : Convolution(layer, weights), height_(inputs.size(2)), width_(inputs.size(3)) {}

  torch::Tensor outputs(const torch::Tensor& inputs) const override {
    const TileGrid grid = grid_of(inputs, Tile::kSmall);
    const torch::Tensor products =
        kernels::products_of_places(Tile::kSmall, tiles_of(inputs, grid), weights().filters->forward());
    return kernels::outputs_of_tiles(products, grid, weights().parameters[1]);
  }
  Deltas prepare(const torch::Tensor& deltas) const override {
    const TileGrid grid = grid_of(deltas, Tile::kLarge);
    torch::Tensor tiles = kernels::places(Tile::kLarge, grid.tiles(), layer().out, deltas.options());
    kernels::transform_deltas(deltas, grid, tiles);
    return {deltas, tiles};
  }
  torch::Tensor input_deltas(const torch::Tensor& inputs, const Deltas& deltas) const override {
    const TileGrid grid = grid_of(inputs, Tile::kLarge);
    const torch::Tensor products =
        kernels::products_of_places(Tile::kLarge, deltas.tiles, weights().filters->adjoint());
    return kernels::input_deltas_of_tiles(products, grid);
  }
  Gradient gradient(const torch::Tensor& inputs, const Deltas& deltas) const override {
    const torch::Tensor tiles = tiles_of(inputs, grid_of(inputs, Tile::kLarge));
    return {kernels::weight_deltas_of_tiles(deltas.tiles, tiles), deltas.plain.sum({0, 2, 3})};
  }
  void weight_gradients(const torch::Tensor& inputs, const Deltas& deltas,
                        const std::function<void(torch::Tensor, double)>& take) const override {
    const TileGrid grid = grid_of(inputs, Tile::kLarge);
    const torch::Tensor tiles = tiles_of(inputs, grid);
    const std::int64_t count = grid.tiles_of_example();
    for (std::int64_t i = 0; i < grid.examples; ++i) {
      kernels::ExampleWeight own = kernels::weight_delta_of_example(deltas.tiles, tiles, i * count, count);
      take(std::move(own.taps), own.squared);
    }
  }
  void add(const torch::Tensor& gradient, const torch::Tensor& weight) const override {
    kernels::add_taps(gradient, weight);
  }
  std::int64_t traffic_of_a_weight() const override {
    constexpr std::int64_t kMeasured = 40;  // 128 channels, 8x8 positions
    return kMeasured;
  }

 private:
  // Of as many examples as `maps` has.
  TileGrid grid_of(const torch::Tensor& maps, Tile tile) const {
    return {layer(), maps.size(0), height_, width_, tile};
  }
  torch::Tensor tiles_of(const torch::Tensor& inputs, const TileGrid& grid) const {
    torch::Tensor tiles = kernels::places(grid.tile, grid.tiles(), layer().in, inputs.options());
    kernels::transform_inputs(inputs, grid, tiles);
    return tiles;
  }

  std::int64_t height_, width_;  // of the inputs
};

}  // namespace

std::array<torch::Tensor, 3> convolution_gradients(const Conv2d& layer, const torch::Tensor& inputs,
                                                   const torch::Tensor& deltas, const torch::Tensor& weight,
                                                   std::array<bool, 3> wanted) {
  const std::vector<std::int64_t> bias{layer.out};
  const std::vector<std::int64_t> padding{layer.padding, layer.padding};
  const std::vector<std::int64_t> stride{layer.stride, layer.stride};
  const std::vector<std::int64_t> ones{1, 1};
  const std::vector<std::int64_t> zeros{0, 0};
  auto [input, weights, shift] =
      at::convolution_backward(deltas, inputs, weight, at::OptionalIntArrayRef(bias), stride, padding, ones,
                               /*transposed=*/false, zeros, /*groups=*/1, wanted);
  return {input, weights, shift};
}

std::unique_ptr<const Convolution> make_convolution(const Conv2d& layer, const LayerWeights& weights,
                                                    const torch::Tensor& inputs) {
  if (kernels::prefer_tiles(layer, inputs)) return std::make_unique<TileConvolution>(layer, weights, inputs);
  if (kernels::prefer_patches(layer)) return std::make_unique<PatchConvolution>(layer, weights);
  return std::make_unique<LibTorchConvolution>(layer, weights);
}

}  // namespace fedarena
