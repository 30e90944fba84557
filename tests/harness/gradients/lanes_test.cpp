// Convolutions on sixteen examples side by side against LibTorch's, in shapes and numbers of examples that
// fill blocks and do not.
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fedarena/random.hpp"

#include "harness/gradients/rules/lane_rule.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

using kernels::Factors;
using kernels::Tail;

struct LanesShape {
  std::int64_t examples, in, out, kernel, padding, height, width;
  Tail tail;
};
const std::vector<LanesShape> kLanesShapes{
    {64, 3, 6, 5, 0, 32, 32, {true, 2}},  {16, 6, 16, 5, 0, 14, 14, {true, 2}},
    {17, 1, 1, 1, 0, 1, 1, {false, 1}},   {5, 2, 7, 3, 1, 9, 8, {true, 3}},
    {33, 4, 13, 2, 1, 5, 11, {false, 2}}, {1, 5, 3, 4, 3, 6, 4, {true, 1}},
    {31, 1, 8, 3, 2, 7, 7, {false, 1}},   {20, 2, 5, 3, 0, 8, 9, {true, 2}}};

bool same(const torch::Tensor& actual, const torch::Tensor& expected) {
  return torch::equal(actual.to(torch::kFloat64), expected);
}

class InLanes : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  // A layer and what goes into it, in the type that is tested.
  struct Case {
    Conv2d layer;
    Tail tail;
    torch::Tensor inputs, weight, bias, deltas;

    LaneConv2d convolution(Want want, const Tail& after) const {
      return {layer, after, {weight, bias}, want};
    }
    LaneConv2d convolution(Want want) const { return convolution(want, tail); }
  };

  Case make(const LanesShape& shape) {
    const std::int64_t height = shape.height + 2 * shape.padding - shape.kernel + 1;
    const std::int64_t width = shape.width + 2 * shape.padding - shape.kernel + 1;
    return {
        .layer = {shape.in, shape.out, shape.kernel, shape.padding},
        .tail = shape.tail,
        .inputs = numbers({shape.examples, shape.in, shape.height, shape.width}),
        .weight = numbers({shape.out, shape.in, shape.kernel, shape.kernel}),
        .bias = numbers({shape.out}),
        .deltas = numbers({shape.examples, shape.out, height / shape.tail.pool, width / shape.tail.pool})};
  }
  // Small whole numbers: nothing is rounded, and windows have equals.
  torch::Tensor numbers(const std::vector<std::int64_t>& shape) {
    return normal(stream_, shape).mul(2).round().to(GetParam());
  }

 private:
  Stream stream_{{.seed = 17}};
};

struct Gradients {
  torch::Tensor outputs, inputs, weight, bias;
};
// In double, from LibTorch's own operations.
Gradients by_autograd(const Conv2d& layer, const Tail& tail, const torch::Tensor& inputs,
                      const torch::Tensor& weight, const torch::Tensor& bias, const torch::Tensor& deltas) {
  const torch::Tensor x = inputs.to(torch::kFloat64).detach().requires_grad_();
  const torch::Tensor w = weight.to(torch::kFloat64).detach().requires_grad_();
  const torch::Tensor b = bias.to(torch::kFloat64).detach().requires_grad_();
  torch::Tensor value = at::conv2d(x, w, b, /*stride=*/1, layer.padding);
  if (tail.relu) value = at::relu(value);
  if (tail.pool > 1) value = at::max_pool2d(value, tail.pool);
  value.backward(deltas.to(torch::kFloat64));
  return {value.detach(), x.grad(), w.grad(), b.grad()};
}

TEST_P(InLanes, OutputsAndGradientsAreThoseOfLibTorch) {
  for (const LanesShape& shape : kLanesShapes) {
    const Case at = make(shape);
    SCOPED_TRACE(fmt::format("{} examples, {} to {} channels, kernel {}, {}x{}", shape.examples, shape.in,
                             shape.out, shape.kernel, shape.height, shape.width));
    LaneConv2d convolution = at.convolution(Want::kSum);
    const torch::Tensor outputs = convolution.forward(at.inputs);
    const torch::Tensor inputs = convolution.backward(at.deltas, /*wanted=*/true);
    const torch::Tensor weight = torch::zeros_like(at.weight), bias = torch::zeros_like(at.bias);
    convolution.add_sum(Factors::ones(shape.examples), std::vector{weight, bias});

    const Gradients expected = by_autograd(at.layer, at.tail, at.inputs, at.weight, at.bias, at.deltas);
    EXPECT_TRUE(same(outputs, expected.outputs));
    EXPECT_TRUE(same(inputs, expected.inputs));
    EXPECT_TRUE(same(weight, expected.weight));
    EXPECT_TRUE(same(bias, expected.bias));
  }
}

TEST_P(InLanes, GradientsOfSingleExamplesHaveTheirNormsAndFactors) {
  for (const LanesShape& shape : kLanesShapes) {
    const Case at = make(shape);
    LaneConv2d convolution = at.convolution(Want::kPerExample);
    convolution.forward(at.inputs);
    const torch::Tensor inputs = convolution.backward(at.deltas, /*wanted=*/false);
    EXPECT_FALSE(inputs.defined());
    const std::vector<double> squared = convolution.squared_norms();
    ASSERT_EQ(squared.size(), static_cast<std::size_t>(shape.examples));
    torch::Tensor weight = torch::zeros_like(at.weight, torch::kFloat64);
    torch::Tensor bias = torch::zeros_like(at.bias, torch::kFloat64);
    std::vector<double> factors;
    for (std::int64_t i = 0; i < shape.examples; ++i) {
      const Gradients expected = by_autograd(at.layer, at.tail, at.inputs.narrow(0, i, 1), at.weight, at.bias,
                                             at.deltas.narrow(0, i, 1));
      const double norm = (expected.weight.square().sum() + expected.bias.square().sum()).item<double>();
      EXPECT_EQ(squared[static_cast<std::size_t>(i)], norm) << i;
      factors.push_back(i % 3 == 0 ? 0 : std::ldexp(1, -static_cast<int>(i % 5)));
      weight += factors.back() * expected.weight;
      bias += factors.back() * expected.bias;
    }
    const torch::Tensor actual_weight = torch::ones_like(at.weight), actual_bias = torch::ones_like(at.bias);
    convolution.add_sum(Factors(factors), std::vector{actual_weight, actual_bias});
    EXPECT_TRUE(same(actual_weight, weight + 1));
    EXPECT_TRUE(same(actual_bias, bias + 1));
  }
}

// A trace keeps what each layer was given, and must give the same gradient to the bit; with numbers that are
// rounded.
TEST_P(InLanes, TheTailIsReluAndMaxPoolingAfterTheConvolution) {
  for (const LanesShape& shape : kLanesShapes) {
    if (!shape.tail.relu) continue;
    Case at = make(shape);
    for (torch::Tensor* numbers : {&at.inputs, &at.weight, &at.bias, &at.deltas}) *numbers *= 0.1;
    LaneConv2d fused = at.convolution(Want::kSum), plain = at.convolution(Want::kSum, {});
    const torch::Tensor outputs = fused.forward(at.inputs);
    const torch::Tensor convolved = plain.forward(at.inputs);
    const torch::Tensor rectified = at::relu(convolved);
    const auto [pooled, places] = at::max_pool2d_with_indices(rectified, shape.tail.pool);
    EXPECT_TRUE(torch::equal(outputs, pooled));
    const torch::Tensor spread =
        at::max_pool2d_with_indices_backward(at.deltas, rectified, shape.tail.pool, shape.tail.pool,
                                             /*padding=*/0, /*dilation=*/1, /*ceil_mode=*/false, places);
    const torch::Tensor deltas = at::threshold_backward(spread, rectified, 0).contiguous();
    EXPECT_TRUE(torch::equal(fused.backward(at.deltas, true), plain.backward(deltas, true)));
    const auto sum = [&](const LaneConv2d& convolution) {
      const std::vector sums{torch::zeros_like(at.weight), torch::zeros_like(at.bias)};
      convolution.add_sum(Factors::ones(shape.examples), sums);
      return sums;
    };
    EXPECT_TRUE(torch::equal(sum(fused)[0], sum(plain)[0]));
    EXPECT_TRUE(torch::equal(sum(fused)[1], sum(plain)[1]));
  }
}

// Neighbours in a vector are strangers: an example's numbers have the same bits alone and beside any others.
TEST_P(InLanes, AnExampleDoesNotSeeItsNeighbours) {
  Case at = make({40, 2, 5, 3, 1, 6, 7, {true, 2}});
  for (torch::Tensor* numbers : {&at.inputs, &at.weight, &at.bias, &at.deltas}) *numbers *= 0.1;
  at.inputs[3].fill_(kNan);
  at.inputs[20].fill_(kInfinity);
  LaneConv2d all = at.convolution(Want::kPerExample);
  const torch::Tensor outputs = all.forward(at.inputs);
  const torch::Tensor inputs = all.backward(at.deltas, /*wanted=*/true);
  const std::vector<double> squared = all.squared_norms();
  EXPECT_TRUE(std::isnan(squared[3]));
  for (const std::int64_t i : {0, 4, 15, 16, 21, 39}) {
    LaneConv2d alone = at.convolution(Want::kPerExample);
    EXPECT_TRUE(torch::equal(alone.forward(at.inputs.narrow(0, i, 1))[0], outputs[i])) << i;
    const torch::Tensor own = alone.backward(at.deltas.narrow(0, i, 1), true)[0];
    EXPECT_TRUE(torch::equal(own, inputs[i])) << i;
    EXPECT_EQ(alone.squared_norms().front(), squared[static_cast<std::size_t>(i)]) << i;
  }
  // A factor of zero keeps out what is not a number.
  std::vector<double> factors(40, 1);
  factors[3] = factors[20] = 0;
  const torch::Tensor weight = torch::zeros_like(at.weight), bias = torch::zeros_like(at.bias);
  all.add_sum(Factors(factors), std::vector{weight, bias});
  EXPECT_TRUE(weight.isfinite().all().item<bool>());
  EXPECT_TRUE(bias.isfinite().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Types, InLanes, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(torch::toString(info.param)); });

TEST(PreferLanes, WhereChannelsAreFewAndExamplesAreNot) {
  EXPECT_TRUE(prefer_lanes({3, 6, 5, 0}, 64));
  EXPECT_TRUE(prefer_lanes({6, 16, 5, 0}, 8));
  EXPECT_TRUE(prefer_lanes({1, 32, 3, 0}, 16));
  EXPECT_FALSE(prefer_lanes({3, 6, 5, 0}, 7));
  EXPECT_FALSE(prefer_lanes({3, 16, 3, 1}, 64));
  EXPECT_FALSE(prefer_lanes({128, 128, 3, 1}, 64));
  EXPECT_FALSE(prefer_lanes({1, 1, 3, 3}, 64)) << "a padding that a kernel does not reach across";
}

}  // namespace
}  // namespace fedarena
