// Convolutions by patches against LibTorch's.
#include "harness/gradients/kernels/patches.hpp"

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedarena/random.hpp"

namespace fedarena::kernels {
namespace {

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

double patches_relative_error(const torch::Tensor& actual, const torch::Tensor& expected) {
  return ((actual.to(torch::kFloat64) - expected).norm() / expected.norm()).item<double>();
}

class ByPatches : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  torch::Tensor numbers(const std::vector<std::int64_t>& shape) { return normal(stream_, shape); }
  double tolerance() const { return GetParam() == torch::kFloat64 ? 1e-13 : 1e-6; }

 private:
  Stream stream_{{.seed = 9}};
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
    EXPECT_LE(patches_relative_error(outputs, expected), tolerance());

    const torch::Tensor deltas = numbers(expected.sizes().vec());
    const torch::Tensor before = numbers(inputs.sizes().vec());
    const torch::Tensor input_deltas = own(before).clone();
    add_input_deltas_of_patches(layer, own(weight), own(deltas), input_deltas);
    const torch::Tensor adjoint =
        at::conv_transpose2d(deltas, weight, /*bias=*/{}, /*stride=*/1, layer.padding);
    EXPECT_LE(patches_relative_error(input_deltas, before + adjoint), tolerance());

    // By the definition: a convolution of inputs with deltas, both turned so that channels are summed over
    // examples.
    const torch::Tensor in_weight =
        at::conv2d(inputs.transpose(0, 1), deltas.transpose(0, 1), /*bias=*/{}, /*stride=*/1, layer.padding)
            .transpose(0, 1)
            .flatten(1);
    const torch::Tensor weight_deltas = weight_deltas_of_patches(layer, own(inputs), own(deltas));
    const std::int64_t taps = in_weight.size(1);
    EXPECT_LE(patches_relative_error(weight_deltas.narrow(1, 0, taps), in_weight), tolerance());
    EXPECT_TRUE(weight_deltas.narrow(1, taps, weight_deltas.size(1) - taps).eq(0).all().item<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ByPatches, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(torch::toString(info.param)); });

}  // namespace
}  // namespace fedarena::kernels
