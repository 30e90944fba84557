// Operations against sums by hand: 2 x kernel^2 x channels in x channels out x positions of a convolution, 2
// x in x out of an affine map; a gradient costs twice that in the first layer and three times in the others,
// a gradient in the inputs of a function of the gradient five and seven times.
#include "harness/models/operations.hpp"

#include <string>

#include <gtest/gtest.h>

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

const ModelInput kOperationsGrey{.shape = {1, 28, 28}, .outputs = 10};
const ModelInput kOperationsColour{.shape = {3, 32, 32}, .outputs = 10};

void expect_operations(const Architecture& architecture, std::int64_t first, std::int64_t others) {
  const Operations counted = count_operations(architecture);
  EXPECT_EQ(counted.forward, first + others);
  EXPECT_EQ(counted.gradient, 2 * first + 3 * others);
  EXPECT_EQ(counted.input_gradient, 5 * first + 7 * others);
}

TEST(Operations, AreThoseOfTheZooByHand) {
  expect_operations(build_model("logistic", {}, kOperationsGrey), 15'680, 0);  // 2 x 784 x 10
  // 784 x 200, then 200 x 200 and 200 x 10.
  expect_operations(build_model("mlp", {}, kOperationsGrey), 313'600, 80'000 + 4'000);
  // 3x3 from 1 to 128 channels at 32x32 positions (the padding is 3), from 128 to 128 at 16x16 and 8x8, then
  // 128 x 4 x 4 features.
  expect_operations(build_model("convnet", {}, kOperationsGrey), 2'359'296, 75'497'472 + 18'874'368 + 40'960);
  expect_operations(build_model("convnet", {}, kOperationsColour), 7'077'888, 75'497'472 + 18'874'368 + 40'960);
  // 5x5 from 1 to 6 channels at 24x24 positions, from 6 to 16 at 8x8, then 256 x 120, 120 x 84, 84 x 10.
  expect_operations(build_model("niid-cnn", {}, kOperationsGrey), 172'800, 307'200 + 61'440 + 20'160 + 1'680);
  // 3x3 from 1 to 32 channels at 26x26 positions, from 32 to 64 at 24x24, then 9,216 x 128, 128 x 10.
  expect_operations(build_model("femnist-cnn", {}, kOperationsGrey), 389'376, 21'233'664 + 2'359'296 + 2'560);
}

// One multiplication and one addition for every weight at every position, biases taking the place of the
// additions that sums lack: counted as the loops would run.
TEST(Operations, AreTheStepsOfPlainLoops) {
  const Conv2d layer{3, 4, 3, 1};
  std::int64_t steps = 0;
  for (int out = 0; out < 4; ++out) {
    for (int position = 0; position < 5 * 7; ++position) {
      std::int64_t multiplications = 0, additions = 0;
      for (int term = 0; term < 3 * 3 * 3; ++term) {
        ++multiplications;
        additions += term > 0;
      }
      steps += multiplications + additions + 1;  // the bias
    }
  }
  const Architecture architecture{
      .input_shape = {3, 5, 7}, .outputs = 140, .layers = {layer, Relu{}, Flatten{}}};
  EXPECT_EQ(count_operations(architecture).forward, steps);
}

// Where something is learnt before a layer, the gradient goes on through its inputs.
TEST(Operations, CountInputsThatAGradientMustPass) {
  const std::int64_t affine = 2 * 12 * 5;
  const auto gradient = [](std::vector<std::int64_t> shape, std::vector<Layer> layers) {
    return count_operations({.input_shape = std::move(shape), .outputs = 5, .layers = std::move(layers)})
        .gradient;
  };
  EXPECT_EQ(gradient({3, 2, 2}, {Relu{}, Flatten{}, Linear{12, 5}}), 2 * affine);
  EXPECT_EQ(gradient({3, 2, 2}, {GroupNorm{1, 3}, Flatten{}, Linear{12, 5}}), 3 * affine);
  EXPECT_EQ(gradient({4}, {Embedding{7, 3}, Flatten{}, Linear{12, 5}}), 3 * affine);
  EXPECT_EQ(gradient({3, 5, 4}, {AveragePool{2}, MaxPool{1}, Flatten{}, Linear{12, 5}}), 2 * affine);
}

}  // namespace
}  // namespace fedarena
