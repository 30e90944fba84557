#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/stream.hpp"

#include "results/statistics/paired_tests.hpp"

namespace fedarena::results {
namespace {

// Multiples of 2^-40, as compared results are.
std::vector<double> normals(Stream& stream, int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = stream.normal();
  return paired_differences(values, std::vector<double>(values.size(), 0.0));
}

TEST(Bootstrap, OfThreeOrFourDifferencesIsTheirRange) {
  EXPECT_EQ(bootstrap_interval(std::vector{0.5, 0.25, 1.0}, 0.95), (Interval{0.25, 1.0}));
  EXPECT_EQ(bootstrap_interval(std::vector{0.5, -0.25, 1.0, 2.0}, 0.95), (Interval{-0.25, 2.0}));
}

// Of 5^5 resamples, 1 is five times the least difference and 5 are four times that and once the next. The
// expanded tail for five, 0.00096, lies between 1 / 3125 and 6 / 3125.
TEST(Bootstrap, OfFiveDifferencesEndsAtTheSecondLeastMean) {
  const auto interval = bootstrap_interval(std::vector{8.0, 1.0, 2.0, 16.0, 4.0}, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->low, (4 * 1.0 + 2.0) / 5);
  EXPECT_DOUBLE_EQ(interval->high, (4 * 16.0 + 8.0) / 5);
}

TEST(Bootstrap, IsAFunctionOfTheDifferences) {
  const std::vector<double> values = {0.5, 0.25, 1.0, 0.75, 2.0, 3.0, 1.5};
  std::vector<double> moved;
  for (const double value : values) moved.push_back(8 - 4 * value);
  const Interval interval = *bootstrap_interval(values, 0.95);
  EXPECT_EQ(bootstrap_interval(values, 0.95), interval);
  const Interval mirrored = *bootstrap_interval(moved, 0.95);
  EXPECT_NEAR(mirrored.low, 8 - 4 * interval.high, 1e-12);
  EXPECT_NEAR(mirrored.high, 8 - 4 * interval.low, 1e-12);
}

TEST(Bootstrap, HasNoIntervalWithoutASpread) {
  EXPECT_FALSE(bootstrap_interval(std::vector<double>{}, 0.95));
  EXPECT_FALSE(bootstrap_interval(std::vector{0.5}, 0.95));
  EXPECT_FALSE(bootstrap_interval(std::vector{0.5, 0.5, 0.5}, 0.95));
}

// With many normal differences both intervals are the same but for resampling.
TEST(Bootstrap, ComesNearStudentsIntervalForManyDifferences) {
  Stream stream({.seed = 5});
  const std::vector<double> values = normals(stream, 400);
  const Interval bootstrap = *bootstrap_interval(values, 0.95);
  const Interval student = paired_t_test(values, 0.95)->interval;
  EXPECT_NEAR(bootstrap.low, student.low, 0.006);
  EXPECT_NEAR(bootstrap.high, student.high, 0.006);
}

// How often it holds the mean of normal differences, over 1,000 cases, each bound 4 standard deviations wide:
// of three differences in 1 - 2^-2 of cases, as bootstrap_reach() says; of ten about as often as Student's.
TEST(Bootstrap, HoldsTheMeanAsOftenAsSoFewDifferencesAllow) {
  const auto coverage = [](int count) {
    Stream stream({.seed = 6, .round = count});
    int held = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      const Interval interval = *bootstrap_interval(normals(stream, count), 0.95);
      held += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
    }
    return held / 1000.0;
  };
  EXPECT_EQ(bootstrap_reach(3), 0.75);
  EXPECT_EQ(bootstrap_reach(5), 0.9375);
  EXPECT_NEAR(coverage(3), 0.75, 4 * 0.0137);
  EXPECT_LE(coverage(5), 0.9375 + 4 * 0.0077);
  EXPECT_NEAR(coverage(10), 0.95, 4 * 0.0069);
}

}  // namespace
}  // namespace fedarena::results
