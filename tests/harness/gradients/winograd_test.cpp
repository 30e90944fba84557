// Convolutions by tiles against LibTorch's, in every shape that tiles can overhang in.
#include "harness/gradients/winograd.hpp"

#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedarena/random.hpp"

namespace fedarena::kernels {
namespace {

struct Shape {
  std::int64_t examples, in, out, height, width, padding;
};
const std::vector<Shape> kShapes{{2, 16, 16, 16, 16, 1}, {3, 32, 17, 8, 8, 1},  {1, 1, 1, 3, 3, 0},
                                 {2, 5, 33, 7, 9, 1},    {2, 19, 3, 4, 13, 0},  {1, 16, 48, 6, 5, 2},
                                 {1, 2, 7, 1, 1, 1},     {2, 16, 16, 10, 3, 3}, {4, 8, 8, 12, 12, 0}};

double relative_error(const torch::Tensor& actual, const torch::Tensor& expected) {
  return ((actual.to(torch::kFloat64) - expected).norm() / expected.norm()).item<double>();
}

class ByTiles : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  torch::Tensor numbers(const std::vector<std::int64_t>& shape) { return normal(stream_, shape); }
  double tolerance() const { return GetParam() == torch::kFloat64 ? 1e-13 : 1e-5; }

 private:
  Stream stream_{{.seed = 7}};
};

TEST_P(ByTiles, OutputsAndInputDeltasAreThoseOfTheConvolution) {
  for (const Shape& shape : kShapes) {
    const Conv2d layer{shape.in, shape.out, 3, shape.padding};
    const TileGrid grid(layer, shape.examples, shape.height, shape.width);
    const torch::Tensor inputs = numbers({shape.examples, shape.in, shape.height, shape.width});
    const torch::Tensor deltas = numbers({shape.examples, shape.out, grid.out_height, grid.out_width});
    const torch::Tensor weight = numbers({shape.out, shape.in, 3, 3});
    const torch::Tensor bias = numbers({shape.out});
    const torch::Tensor typed_weight = weight.to(GetParam());

    const torch::Tensor in_tiles = places(grid.tiles(), shape.in, GetParam());
    transform_inputs(inputs.to(GetParam()), grid, in_tiles);
    const torch::Tensor filters = places(shape.in, shape.out, GetParam());
    transform_filters(typed_weight, filters);
    const torch::Tensor outputs = outputs_of_tiles(at::bmm(in_tiles, filters), grid, bias.to(GetParam()));

    const torch::Tensor out_tiles = places(grid.tiles(), shape.out, GetParam());
    transform_deltas(deltas.to(GetParam()), grid, out_tiles);
    const torch::Tensor adjoint_filters = places(shape.out, shape.in, GetParam());
    transform_adjoint_filters(typed_weight, adjoint_filters);
    const torch::Tensor input_deltas = input_deltas_of_tiles(at::bmm(out_tiles, adjoint_filters), grid);

    SCOPED_TRACE(fmt::format("{} to {} channels, {}x{}, padding {}", shape.in, shape.out, shape.height,
                             shape.width, shape.padding));
    const torch::Tensor expected = at::conv2d(inputs, weight, bias, /*stride=*/1, shape.padding);
    ASSERT_EQ(outputs.sizes(), expected.sizes());
    EXPECT_LE(relative_error(outputs, expected), tolerance());
    const torch::Tensor expected_deltas =
        at::conv_transpose2d(deltas, weight, /*bias=*/{}, /*stride=*/1, shape.padding);
    ASSERT_EQ(input_deltas.sizes(), expected_deltas.sizes());
    EXPECT_LE(relative_error(input_deltas, expected_deltas), tolerance());
  }
}

// Writing beside what it was given would show in the other half.
TEST_P(ByTiles, TransformsWriteTheirHalfOfSharedPlacesAlone) {
  const Conv2d layer{20, 18, 3, 1};
  const TileGrid grid(layer, 2, 9, 6);
  const torch::Tensor inputs = numbers({2, 20, 9, 6}).to(GetParam());
  const torch::Tensor alone = places(grid.tiles(), 20, GetParam());
  transform_inputs(inputs, grid, alone);
  for (const std::int64_t half : {0, 20}) {
    const torch::Tensor shared = places(grid.tiles(), 40, GetParam());
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
}

}  // namespace
}  // namespace fedarena::kernels
