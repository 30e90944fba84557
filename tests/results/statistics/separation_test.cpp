#include "results/statistics/separation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/stream.hpp"

#include "tests/infinity.hpp"

namespace fedarena::results {
namespace {

using testing::Each;

// Scores, of which few are different, so that many are equal.
struct RocSample {
  std::vector<double> positives, negatives;
  std::optional<RocCurve> curve() const { return roc_curve(positives, negatives); }
};

RocSample roc_sample(Stream& stream, std::size_t size, std::uint64_t different) {
  RocSample sample;
  for (std::size_t i = 0; i < size; ++i) {
    const bool positive = stream.below(3) == 1;
    const auto score = static_cast<double>(stream.below(different) + (positive ? 2 : 0));
    (positive ? sample.positives : sample.negatives).push_back(score);
  }
  return sample;
}

TEST(Roc, OfPerfectSeparationIsTheCorner) {
  const RocCurve curve = roc_curve(std::vector{0.9, 0.8}, std::vector{0.2}).value();
  EXPECT_EQ(curve.area, 1);
  EXPECT_THAT(curve.true_positive_rates, Each(1));
  EXPECT_EQ(roc_curve(std::vector{kInfinity}, std::vector{-kInfinity}).value().area, 1);
}

TEST(Roc, OfReversedScoresIsZero) {
  const RocCurve curve = roc_curve(std::vector{0.1, 0.2}, std::vector{0.8}).value();
  EXPECT_EQ(curve.area, 0);
  EXPECT_EQ(curve.true_positive_rates[0], 0);
  EXPECT_EQ(curve.true_positive_rates[99], 0);
  EXPECT_EQ(curve.true_positive_rates[100], 1);
}

TEST(Roc, OfEqualScoresIsTheDiagonal) {
  const RocCurve curve = roc_curve(std::vector(2, 0.5), std::vector(3, 0.5)).value();
  EXPECT_EQ(curve.area, 0.5);
  for (std::size_t step = 0; step <= 100; ++step) {
    EXPECT_DOUBLE_EQ(curve.true_positive_rates[step], static_cast<double>(step) / 100);
  }
}

// Of the six pairs, three are in order and one is a tie. Corners: (0, 0), (0, 1/3), (1/2, 2/3), (1, 2/3),
// (1, 1).
TEST(Roc, OfFiveExamplesWithATie) {
  const RocCurve curve = roc_curve(std::vector{0.1, 0.6, 0.9}, std::vector{0.3, 0.6}).value();
  EXPECT_DOUBLE_EQ(curve.area, 3.5 / 6);
  EXPECT_DOUBLE_EQ(curve.true_positive_rates[0], 1.0 / 3);
  EXPECT_DOUBLE_EQ(curve.true_positive_rates[25], 0.5);
  EXPECT_DOUBLE_EQ(curve.true_positive_rates[50], 2.0 / 3);
  EXPECT_DOUBLE_EQ(curve.true_positive_rates[75], 2.0 / 3);
  EXPECT_DOUBLE_EQ(curve.true_positive_rates[100], 1);
}

TEST(Roc, AreaIsTheMannWhitneyStatistic) {
  Stream stream({.seed = 1});
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const RocSample sample = roc_sample(stream, 3 + trial % 40, 1 + trial % 9);
    std::int64_t doubled = 0;
    for (const double positive : sample.positives) {
      for (const double negative : sample.negatives) {
        doubled += positive > negative ? 2 : positive == negative ? 1 : 0;
      }
    }
    const auto pairs = static_cast<std::int64_t>(sample.positives.size() * sample.negatives.size());
    const std::optional<RocCurve> curve = sample.curve();
    ASSERT_EQ(curve.has_value(), pairs > 0);
    if (!curve) continue;
    EXPECT_EQ(curve->area, static_cast<double>(doubled) / static_cast<double>(2 * pairs));
  }
}

// The thresholds that give a false positive rate just below and just above, and a line between both.
TEST(Roc, RatesLieOnLinesBetweenThresholds) {
  Stream stream({.seed = 2});
  for (int trial = 0; trial < 100; ++trial) {
    const RocSample sample = roc_sample(stream, 50, 7);
    const std::optional<RocCurve> curve = sample.curve();
    if (!curve) continue;
    const auto share = [](const std::vector<double>& scores, int threshold) {
      const auto count = std::ranges::count_if(scores, [&](double score) { return score >= threshold; });
      return static_cast<double>(count) / static_cast<double>(scores.size());
    };
    for (std::int64_t step = 0; step <= kRocSteps; ++step) {
      double low = 0, high = 1, below = 0, above = 1;
      const double wanted = static_cast<double>(step) / kRocSteps;
      for (int threshold = 10; threshold >= -1; --threshold) {
        const double hits = share(sample.positives, threshold), alarms = share(sample.negatives, threshold);
        if (alarms <= wanted + 1e-12) {
          low = alarms;
          below = hits;
        } else if (high >= alarms) {
          high = alarms;
          above = std::min(above, hits);
        }
      }
      const double expected = low >= wanted ? below : below + (above - below) * (wanted - low) / (high - low);
      EXPECT_NEAR(curve->true_positive_rates[static_cast<std::size_t>(step)], expected, 1e-9);
    }
  }
}

TEST(Roc, DependsOnTheOrderOfScoresAlone) {
  Stream stream({.seed = 3});
  RocSample sample = roc_sample(stream, 300, 20);
  const RocCurve curve = sample.curve().value();
  for (std::vector<double>* scores : {&sample.positives, &sample.negatives}) {
    for (double& score : *scores) score = std::exp(score / 4) - 7;
    std::ranges::reverse(*scores);
  }
  EXPECT_EQ(sample.curve(), curve);
  EXPECT_NEAR(roc_curve(sample.negatives, sample.positives)->area, 1 - curve.area, 1e-15);
}

// A curve that never falls lies between the steps before and after each of its points.
TEST(Roc, HasTheAreaOfItsRates) {
  Stream stream({.seed = 4});
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const RocCurve curve = roc_sample(stream, 20 + trial, 1 + trial % 30).curve().value();
    const RocRates& rates = curve.true_positive_rates;
    EXPECT_TRUE(std::ranges::is_sorted(rates));
    EXPECT_EQ(rates.back(), 1);
    double least = 0, largest = 0;
    for (std::size_t step = 0; step < kRocSteps; ++step) {
      least += rates[step] / kRocSteps;
      largest += rates[step + 1] / kRocSteps;
    }
    EXPECT_GE(curve.area, least - 1e-12);
    EXPECT_LE(curve.area, largest + 1e-12);
  }
}

TEST(Roc, NeedsBothKindsOfExamplesAndNumbers) {
  const std::vector<double> some = {0.5, 0.25}, none;
  const std::vector<double> diverged = {0.5, kNan};
  EXPECT_EQ(roc_curve(some, none), std::nullopt);
  EXPECT_EQ(roc_curve(none, some), std::nullopt);
  EXPECT_EQ(roc_curve(some, diverged), std::nullopt);
  EXPECT_EQ(roc_curve(diverged, some), std::nullopt);
}

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
  EXPECT_EQ(separation(std::vector{kInfinity, 1.0}, std::vector{-kInfinity, 0.0}, 1)->auc, 1);
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
