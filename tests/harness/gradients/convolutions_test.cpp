// Convolutions by tiles against LibTorch's, in every shape that tiles can overhang in.
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedarena/random.hpp"

#include "harness/gradients/kernels/patches.hpp"
#include "harness/gradients/kernels/winograd.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena::kernels {
namespace {

struct WinogradShape {
  std::int64_t examples, in, out, height, width, padding;
};
const std::vector<WinogradShape> kWinogradShapes{
    {2, 16, 16, 16, 16, 1}, {3, 32, 17, 8, 8, 1},  {1, 1, 1, 3, 3, 0},
    {2, 5, 33, 7, 9, 1},    {2, 19, 3, 4, 13, 0},  {1, 16, 48, 6, 5, 2},
    {1, 2, 7, 1, 1, 1},     {2, 16, 16, 10, 3, 3}, {4, 8, 8, 12, 12, 0}};

std::string described(const WinogradShape& shape, Tile tile) {
  return fmt::format("{} to {} channels, {}x{}, padding {}, tiles of {}", shape.in, shape.out, shape.height,
                     shape.width, shape.padding, side_of(tile));
}

// By the definition: a convolution of inputs with deltas, both turned so that channels are summed over
// examples.
torch::Tensor weight_delta(const Conv2d& layer, const torch::Tensor& inputs, const torch::Tensor& deltas) {
  return at::conv2d(inputs.transpose(0, 1), deltas.transpose(0, 1), /*bias=*/{}, /*stride=*/1, layer.padding)
      .transpose(0, 1);
}

torch::Tensor outputs_by_tiles(const torch::Tensor& inputs, const torch::Tensor& weight,
                               const torch::Tensor& bias, const TileGrid& grid) {
  const torch::Tensor tiles = places(grid.tile, grid.tiles(), weight.size(1), inputs.options());
  transform_inputs(inputs, grid, tiles);
  const torch::Tensor filters = places(grid.tile, weight.size(1), weight.size(0), inputs.options());
  transform_filters(weight, filters);
  return outputs_of_tiles(products_of_places(grid.tile, tiles, filters), grid, bias);
}

torch::Tensor weight_of(const torch::Tensor& taps) {
  torch::Tensor weight = torch::zeros({taps.size(1), taps.size(2), 3, 3}, taps.options());
  add_taps(taps, weight);
  return weight;
}

class Convolutions : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  torch::Tensor numbers(const std::vector<std::int64_t>& shape) { return normal(stream_, shape); }

 private:
  Stream stream_{{.seed = 7}};
};

class ByTiles : public Convolutions {
 protected:
  double tolerance(Tile tile) const {
    if (GetParam() == torch::kFloat64) return 1e-13;
    return tile == Tile::kSmall ? 1e-6 : 1e-5;
  }
};

TEST_P(ByTiles, OutputsAreThoseOfTheConvolution) {
  for (const WinogradShape& shape : kWinogradShapes) {
    const Conv2d layer{shape.in, shape.out, 3, shape.padding};
    const torch::Tensor inputs = numbers({shape.examples, shape.in, shape.height, shape.width});
    const torch::Tensor weight = numbers({shape.out, shape.in, 3, 3});
    const torch::Tensor bias = numbers({shape.out});
    const torch::Tensor expected = at::conv2d(inputs, weight, bias, /*stride=*/1, shape.padding);
    for (const Tile tile : {Tile::kSmall, Tile::kLarge}) {
      const TileGrid grid(layer, shape.examples, shape.height, shape.width, tile);
      const torch::Tensor outputs =
          outputs_by_tiles(inputs.to(GetParam()), weight.to(GetParam()), bias.to(GetParam()), grid);
      SCOPED_TRACE(described(shape, tile));
      ASSERT_EQ(outputs.sizes(), expected.sizes());
      EXPECT_LE(relative_error(outputs, expected), tolerance(tile));
    }
  }
}

TEST_P(ByTiles, GradientsAreThoseOfTheConvolution) {
  for (const WinogradShape& shape : kWinogradShapes) {
    const Conv2d layer{shape.in, shape.out, 3, shape.padding};
    const TileGrid grid(layer, shape.examples, shape.height, shape.width);
    const torch::Tensor inputs = numbers({shape.examples, shape.in, shape.height, shape.width});
    const torch::Tensor deltas = numbers({shape.examples, shape.out, grid.out_height, grid.out_width});
    const torch::Tensor weight = numbers({shape.out, shape.in, 3, 3});

    const torch::Tensor tiles = places(Tile::kLarge, grid.tiles(), shape.out, GetParam());
    transform_deltas(deltas.to(GetParam()), grid, tiles);
    const torch::Tensor filters = places(Tile::kLarge, shape.out, shape.in, GetParam());
    transform_adjoint_filters(weight.to(GetParam()), filters);
    const torch::Tensor input_deltas =
        input_deltas_of_tiles(products_of_places(Tile::kLarge, tiles, filters), grid);
    const torch::Tensor in_tiles = places(Tile::kLarge, grid.tiles(), shape.in, GetParam());
    transform_inputs(inputs.to(GetParam()), grid, in_tiles);

    SCOPED_TRACE(described(shape, Tile::kLarge));
    const torch::Tensor expected =
        at::conv_transpose2d(deltas, weight, /*bias=*/{}, /*stride=*/1, shape.padding);
    ASSERT_EQ(input_deltas.sizes(), expected.sizes());
    EXPECT_LE(relative_error(input_deltas, expected), tolerance(Tile::kLarge));

    torch::Tensor sum = torch::zeros_like(weight);
    for (std::int64_t i = 0; i < shape.examples; ++i) {
      const torch::Tensor own = weight_delta(layer, inputs.narrow(0, i, 1), deltas.narrow(0, i, 1));
      sum += own;
      const auto [taps, squared] =
          weight_delta_of_example(tiles, in_tiles, i * grid.tiles_of_example(), grid.tiles_of_example());
      EXPECT_LE(relative_error(weight_of(taps), own), tolerance(Tile::kLarge)) << "example " << i;
      EXPECT_NEAR(squared, squared_norm(taps), 1e-12 * squared) << "example " << i;
    }
    EXPECT_LE(relative_error(weight_of(weight_deltas_of_tiles(tiles, in_tiles)), sum),
              tolerance(Tile::kLarge));
  }
}

// Masks of ReLUs hang on the rounding of outputs.
TEST(Rounding, OfSmallTilesIsNoWorseThanThatOfTheConvolutionTermByTerm) {
  Stream stream({.seed = 8});
  const torch::Tensor inputs = normal(stream, {2, 128, 16, 16}).relu();
  const torch::Tensor weight = normal(stream, {128, 128, 3, 3}) / 34;
  const torch::Tensor bias = normal(stream, {128});
  const torch::Tensor exact = at::conv2d(inputs, weight, bias, /*stride=*/1, /*padding=*/1);
  const torch::Tensor filter = weight.to(torch::kFloat32), shift = bias.to(torch::kFloat32);

  const torch::Tensor padded = at::constant_pad_nd(inputs, {1, 1, 1, 1}).to(torch::kFloat32);
  torch::Tensor sum = at::zeros_like(exact, torch::kFloat32);
  for (std::int64_t c = 0; c < 128; ++c) {
    for (std::int64_t y = 0; y < 3; ++y) {
      for (std::int64_t x = 0; x < 3; ++x) {
        sum.addcmul_(padded.narrow(1, c, 1).narrow(2, y, 16).narrow(3, x, 16),
                     filter.select(3, x).select(2, y).select(1, c).view({1, 128, 1, 1}));
      }
    }
  }
  sum += shift.view({1, 128, 1, 1});

  const TileGrid grid({128, 128, 3, 1}, 2, 16, 16, Tile::kSmall);
  const torch::Tensor outputs = outputs_by_tiles(inputs.to(torch::kFloat32), filter, shift, grid);
  const double by_tiles = relative_error(outputs, exact), term_by_term = relative_error(sum, exact);
  EXPECT_LE(by_tiles, term_by_term);
}

// Writing beside what it was given would show in the other half.
TEST_P(ByTiles, TransformsWriteTheirHalfOfSharedPlacesAlone) {
  const Conv2d layer{20, 18, 3, 1};
  const TileGrid grid(layer, 2, 9, 6);
  const torch::Tensor inputs = numbers({2, 20, 9, 6}).to(GetParam());
  const torch::Tensor alone = places(Tile::kLarge, grid.tiles(), 20, GetParam());
  transform_inputs(inputs, grid, alone);
  for (const std::int64_t half : {0, 20}) {
    const torch::Tensor shared = places(Tile::kLarge, grid.tiles(), 40, GetParam());
    shared.fill_(3);
    transform_inputs(inputs, grid, shared.narrow(2, half, 20));
    EXPECT_TRUE(torch::equal(shared.narrow(2, half, 20), alone));
    EXPECT_TRUE(shared.narrow(2, 20 - half, 20).eq(3).all().item<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ByTiles, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(torch::toString(info.param)); });

TEST(TileGrid, SavesFourTimesWhereTilesFitAndLessWhereTheyOverhang) {
  EXPECT_DOUBLE_EQ(TileGrid({8, 8, 3, 1}, 5, 16, 16).saving(), 4);  // 144 against 36 a tile
  EXPECT_DOUBLE_EQ(TileGrid({8, 8, 3, 0}, 1, 6, 10).saving(), 4);
  EXPECT_DOUBLE_EQ(TileGrid({8, 8, 3, 1}, 1, 1, 1).saving(), 9. / 36);
  EXPECT_DOUBLE_EQ(TileGrid({8, 8, 3, 1}, 5, 16, 14, Tile::kSmall).saving(), 2.25);  // 36 against 16
}

// Convolutions by patches against LibTorch's.

struct PatchesShape {
  std::int64_t examples;
  Conv2d layer;
  std::int64_t height, width;
};
const std::vector<PatchesShape> kPatchesShapes{{3, {1, 128, 3, 3}, 28, 28}, {2, {3, 17, 3, 1}, 9, 6},
                                               {1, {1, 16, 5, 0}, 5, 8},    {2, {7, 33, 2, 0}, 4, 7},
                                               {4, {2, 5, 1, 0}, 3, 3},     {2, {16, 32, 5, 2}, 6, 6}};

std::string described(const PatchesShape& shape) {
  return fmt::format("{} to {} channels, kernel {}, padding {}, {}x{}", shape.layer.in, shape.layer.out,
                     shape.layer.kernel, shape.layer.padding, shape.height, shape.width);
}

class ByPatches : public Convolutions {
 protected:
  double tolerance() const { return GetParam() == torch::kFloat64 ? 1e-13 : 1e-6; }
};

TEST_P(ByPatches, OutputsAndGradientsAreThoseOfTheConvolution) {
  for (const PatchesShape& shape : kPatchesShapes) {
    SCOPED_TRACE(described(shape));
    const Conv2d& layer = shape.layer;
    const torch::Tensor inputs = numbers({shape.examples, layer.in, shape.height, shape.width});
    const torch::Tensor weight = numbers({layer.out, layer.in, layer.kernel, layer.kernel});
    const torch::Tensor bias = numbers({layer.out});
    const auto own = [this](const torch::Tensor& tensor) { return tensor.to(GetParam()); };

    const torch::Tensor expected = at::conv2d(inputs, weight, bias, /*stride=*/1, layer.padding);
    const torch::Tensor outputs = outputs_of_patches(layer, own(inputs), own(weight), own(bias));
    ASSERT_EQ(outputs.sizes(), expected.sizes());
    EXPECT_LE(relative_error(outputs, expected), tolerance());

    const torch::Tensor deltas = numbers(expected.sizes().vec());
    const torch::Tensor before = numbers(inputs.sizes().vec());
    const torch::Tensor input_deltas = own(before).clone();
    add_input_deltas_of_patches(layer, own(weight), own(deltas), input_deltas);
    const torch::Tensor adjoint =
        at::conv_transpose2d(deltas, weight, /*bias=*/{}, /*stride=*/1, layer.padding);
    EXPECT_LE(relative_error(input_deltas, before + adjoint), tolerance());

    const torch::Tensor in_weight = weight_delta(layer, inputs, deltas).flatten(1);
    const torch::Tensor weight_deltas = weight_deltas_of_patches(layer, own(inputs), own(deltas));
    const std::int64_t taps = in_weight.size(1);
    EXPECT_LE(relative_error(weight_deltas.narrow(1, 0, taps), in_weight), tolerance());
    EXPECT_TRUE(weight_deltas.narrow(1, taps, weight_deltas.size(1) - taps).eq(0).all().item<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ByPatches, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(torch::toString(info.param)); });

}  // namespace
}  // namespace fedarena::kernels
