// Adam's steps against numbers worked out by hand.
#include "fedarena/adam.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

namespace fedarena {
namespace {

torch::Tensor numbers(std::vector<double> values) { return torch::tensor(values, torch::kFloat64); }

// Both moments are free of bias, so whatever the gradient, the step is the rate but for epsilon.
TEST(Adam, FirstStepsAreAsLongAsTheRate) {
  Adam adam({.epsilon = 0.5});
  const torch::Tensor values = numbers({1, 1, 1});
  adam.step(values, numbers({2, -0.5, 0}), 0.1);
  EXPECT_DOUBLE_EQ(values[0].item<double>(), 1 - 0.1 * 2 / 2.5);
  EXPECT_DOUBLE_EQ(values[1].item<double>(), 1 + 0.1 * 0.5 / 1);
  EXPECT_DOUBLE_EQ(values[2].item<double>(), 1);
}

TEST(Adam, StepsAreThoseOfTheAlgorithm) {
  Adam adam({.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0.25});
  const torch::Tensor values = numbers({3});
  adam.step(values, numbers({1}), 0.5);
  EXPECT_DOUBLE_EQ(values.item<double>(), 3 - 0.5 / 1.25);
  // Moments 0.5 * 0.5 - 0.5 * 3 = -1.25 and 0.75 * 0.25 + 0.25 * 9 = 2.4375, with biases 3/4 and 7/16.
  adam.step(values, numbers({-3}), 2);
  EXPECT_DOUBLE_EQ(values.item<double>(),
                   3 - 0.5 / 1.25 + 2 * (1.25 / 0.75) / (std::sqrt(2.4375 / 0.4375) + 0.25));
}

// Of a trial, say: it diverges, and nothing fails.
TEST(Adam, StepsOfRatesThatNoFloatHoldsAreInfinite) {
  Adam adam;
  const torch::Tensor values = torch::ones({1});
  adam.step(values, torch::ones({1}), 1e38);
  EXPECT_EQ(values.item<float>(), -std::numeric_limits<float>::infinity());
}

TEST(Adam, MovesParametersInPlaceAndAlone) {
  auto layout = std::make_shared<Layout>();
  layout->add({2});
  Params params(layout, numbers({1, 2}));
  const Params copy = params, gradient(layout, numbers({5, -5}));
  Adam().step(params, gradient, 0.25);
  EXPECT_NEAR(params.flat()[0].item<double>(), 0.75, 1e-8);
  EXPECT_NEAR(params.flat()[1].item<double>(), 2.25, 1e-8);
  EXPECT_EQ(copy.flat()[0].item<double>(), 1);
}

}  // namespace
}  // namespace fedarena
