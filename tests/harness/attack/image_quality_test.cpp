// Measures of images in closed form, and the assignment against all permutations.
#include "harness/attack/image_quality.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "fedarena/random.hpp"

#include "tests/infinity.hpp"

namespace fedarena {
namespace {

torch::Tensor flat_image(double grey, std::int64_t side = 16) {
  return torch::full({1, side, side}, grey, torch::kFloat64);
}

torch::Tensor random_image(std::int64_t channels, std::int64_t side) {
  Stream stream({.seed = 5});
  return uniform(stream, {channels, side, side}, 0.1, 0.9);
}

TEST(ImageQuality, OfAnEqualImageIsTheBest) {
  const torch::Tensor image = random_image(3, 20);
  const ImageQuality quality = image_quality(image, image);
  EXPECT_EQ(quality.mse, 0);
  EXPECT_EQ(quality.psnr, kInfinity);
  EXPECT_NEAR(quality.ssim, 1, 1e-12);
}

TEST(ImageQuality, OfAShiftInGreyIsThatOfTheFormulas) {
  const ImageQuality quality = image_quality(flat_image(0.5), flat_image(0.4));
  EXPECT_NEAR(quality.mse, 0.01, 1e-15);
  EXPECT_NEAR(quality.psnr, 20, 1e-12);
  EXPECT_NEAR(quality.ssim, (2 * 0.5 * 0.4 + 1e-4) / (0.5 * 0.5 + 0.4 * 0.4 + 1e-4), 1e-9);
}

TEST(ImageQuality, IsThatOfTheImageClippedToPixels) {
  EXPECT_EQ(image_quality(flat_image(7), flat_image(1)).mse, 0);
  EXPECT_EQ(image_quality(flat_image(-3), flat_image(0)).mse, 0);
}

// One window of weights w: with contrast c around the weighted mean, only the second factor of SSIM is left.
TEST(ImageQuality, OfLessContrastIsThatOfTheFormula) {
  constexpr std::int64_t kSide = 7;
  const torch::Tensor image = random_image(1, kSide);
  double mean = 0, square = 0, weights = 0;
  for (std::int64_t y = 0; y < kSide; ++y) {
    for (std::int64_t x = 0; x < kSide; ++x) {
      const double weight = std::exp(-static_cast<double>((y - 3) * (y - 3) + (x - 3) * (x - 3)) / 4.5);
      const double pixel = image[0][y][x].item<double>();
      weights += weight, mean += weight * pixel, square += weight * pixel * pixel;
    }
  }
  mean /= weights;
  const double variance = square / weights - mean * mean;
  for (const double contrast : {0.5, -0.5}) {
    const ImageQuality quality = image_quality(mean + contrast * (image - mean), image);
    const double expected = (2 * contrast * variance + 9e-4) / ((1 + contrast * contrast) * variance + 9e-4);
    EXPECT_NEAR(quality.ssim, expected, 1e-9);
  }
}

TEST(Assignment, HasTheLeastSumOfAllPermutations) {
  Stream stream({.seed = 6});
  for (std::size_t size = 1; size <= 6; ++size) {
    std::vector<std::vector<double>> cost(size, std::vector<double>(size));
    for (auto& row : cost) std::ranges::generate(row, [&] { return stream.normal(); });
    const auto sum = [&](const std::vector<std::int64_t>& chosen) {
      double total = 0;
      for (std::size_t i = 0; i < size; ++i) total += cost[i][static_cast<std::size_t>(chosen[i])];
      return total;
    };
    std::vector<std::int64_t> permutation(size);
    std::iota(permutation.begin(), permutation.end(), 0);
    const std::vector<std::int64_t> found = best_assignment(cost);
    EXPECT_TRUE(std::ranges::is_permutation(found, permutation));
    double least = kInfinity;
    do least = std::min(least, sum(permutation));
    while (std::ranges::next_permutation(permutation).found);
    EXPECT_NEAR(sum(found), least, 1e-12);
  }
  EXPECT_TRUE(best_assignment({}).empty());
}

}  // namespace
}  // namespace fedarena
