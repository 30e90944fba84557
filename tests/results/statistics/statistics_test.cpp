#include "results/statistics/statistics.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena::results {
namespace {

TEST(Statistics, OneValueHasAMeanAndNoSpread) {
  const std::vector<double> one = {0.75};
  EXPECT_EQ(mean(one), 0.75);
  EXPECT_EQ(sample_standard_deviation(one), std::nullopt);
}

TEST(Statistics, EqualValuesHaveNoSpreadAtAll) {
  const std::vector<double> values(7, 0.1);
  EXPECT_EQ(mean(values), 0.1);
  EXPECT_EQ(sample_standard_deviation(values), 0.0);
}

// 1, ..., n has mean (n + 1) / 2 and sample variance n (n + 1) / 12.
TEST(Statistics, AgreesWithTheClosedFormOfConsecutiveNumbers) {
  for (const int n : {2, 3, 10, 1001}) {
    std::vector<double> values;
    for (int i = 1; i <= n; ++i) values.push_back(i);
    EXPECT_DOUBLE_EQ(mean(values), (n + 1) / 2.0);
    EXPECT_DOUBLE_EQ(*sample_standard_deviation(values), std::sqrt(n * (n + 1) / 12.0));
  }
}

// The textbook formula (sum of squares minus square of sum) loses every digit here.
TEST(Statistics, SurvivesALargeCommonOffset) {
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_EQ(mean(values), 1e9 + 10);
  EXPECT_DOUBLE_EQ(*sample_standard_deviation(values), std::sqrt(30.0));
}

TEST(Statistics, SumsWhatPlainAdditionWouldLose) {
  EXPECT_EQ(mean(std::vector<double>{1, 1e100, 1, -1e100}), 0.5);
}

TEST(Statistics, ShiftingMovesTheMeanAndScalingScalesBoth) {
  Stream stream({.seed = 1});
  std::vector<double> values(50), changed;
  stream.fill_normal(values);
  for (const double value : values) changed.push_back(3 * value + 8);
  EXPECT_NEAR(mean(changed), 3 * mean(values) + 8, 1e-13);
  EXPECT_NEAR(*sample_standard_deviation(changed), 3 * *sample_standard_deviation(values), 1e-13);
}

TEST(Statistics, PassesOnWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(mean(std::vector<double>{1, infinity}), infinity);
  EXPECT_TRUE(std::isnan(*sample_standard_deviation(std::vector<double>{1, std::nan("")})));
}

TEST(Statistics, OfNothingIsABug) {
  EXPECT_THROW(mean({}), Bug);
  EXPECT_THROW(sample_standard_deviation({}), Bug);
}

}  // namespace
}  // namespace fedarena::results
