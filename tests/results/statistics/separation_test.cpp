#include "results/statistics/separation.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/stream.hpp"

#include "results/statistics/roc.hpp"

namespace fedarena::results {
namespace {

std::vector<double> normals(std::int64_t count, double mean, std::uint64_t seed) {
  Stream stream({.seed = seed});
  std::vector<double> scores;
  for (std::int64_t i = 0; i < count; ++i) scores.push_back(mean + stream.normal());
  return scores;
}

TEST(Separation, CountsPairsAndThresholds) {
  const std::vector<double> positives = {5, 4, 2, 1}, negatives = {4, 3, 0, 0};
  const Separation found = separation(positives, negatives, 1).value();
  // 4 + 3.5 + 2 + 2 of the 16 pairs.
  EXPECT_EQ(found.auc, 11.5 / 16);
  EXPECT_EQ(found.tpr_at_1_percent, 0.25);  // above 4, where a negative lies
  EXPECT_EQ(found.tpr_at_01_percent, 0.25);
  EXPECT_EQ(found.advantage, 0.5);  // everything from 1 on: 4 of 4 against 2 of 4
  EXPECT_EQ(found.auc, roc_curve(positives, negatives)->area);
}

TEST(Separation, TakesTheLargestRateBelowEachLimit) {
  std::vector<double> negatives, positives;
  for (int i = 0; i < 1000; ++i) negatives.push_back(i);
  // Two of four lie above all but one, one above all but eleven.
  positives = {998.5, 998.5, 988.5, -1};
  const Separation found = separation(positives, negatives, 1).value();
  EXPECT_EQ(found.tpr_at_01_percent, 0.5);
  EXPECT_EQ(found.tpr_at_1_percent, 0.5);
  positives[2] = 989.5;  // above all but ten
  EXPECT_EQ(separation(positives, negatives, 1)->tpr_at_1_percent, 0.75);
}

TEST(Separation, OfScoresThatTellNothingAndOfInfiniteOnes) {
  const std::vector<double> same(5, 0.25);
  const Separation nothing = separation(same, same, 1).value();
  EXPECT_EQ(nothing.auc, 0.5);
  EXPECT_EQ(nothing.advantage, 0);
  EXPECT_EQ(nothing.tpr_at_1_percent, 0);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(separation(std::vector{kInf, 1.0}, std::vector{-kInf, 0.0}, 1)->auc, 1);
  EXPECT_FALSE(separation(std::vector{std::nan("")}, same, 1));
  EXPECT_FALSE(separation({}, same, 1));
}

// Normal scores one apart have the area Phi(1 / sqrt(2)). Of 200 intervals at 95 % at least 181 hold it but
// with probability 1e-3, were they exact; percentile intervals of 200 examples lack about a percent of that.
TEST(Separation, IntervalsHoldTheTrueArea) {
  const double area = 0.5 * std::erfc(-0.5);
  int held = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Interval interval =
        separation(normals(100, 1, 2 * seed), normals(100, 0, 2 * seed + 1), seed)->auc_interval;
    held += interval.low <= area && area <= interval.high;
  }
  EXPECT_GE(held, 179);
  EXPECT_LE(held, 199);
}

}  // namespace
}  // namespace fedarena::results
