#include "results/statistics/roc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/infinity.hpp"
#include "tests/results/roc_samples.hpp"

namespace fedarena::results {
namespace {

using testing::Each;
using testing::Optional;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double rate(const ClassRoc& roc, std::size_t step) { return roc.curve.value().true_positive_rates[step]; }

TEST(Roc, OfPerfectSeparationIsTheCorner) {
  const ClassRoc roc = class_roc(std::vector{0.9, 0.8, 0.2}, std::vector<std::int64_t>{1, 1, 0}, 1);
  EXPECT_EQ(roc.positives, 2);
  EXPECT_EQ(roc.negatives, 1);
  EXPECT_EQ(roc.curve.value().area, 1);
  EXPECT_THAT(roc.curve->true_positive_rates, Each(1));
}

TEST(Roc, OfReversedScoresIsZero) {
  const ClassRoc roc = class_roc(std::vector{0.1, 0.2, 0.8}, std::vector<std::int64_t>{1, 1, 0}, 1);
  EXPECT_EQ(roc.curve.value().area, 0);
  EXPECT_EQ(rate(roc, 0), 0);
  EXPECT_EQ(rate(roc, 99), 0);
  EXPECT_EQ(rate(roc, 100), 1);
}

TEST(Roc, OfEqualScoresIsTheDiagonal) {
  const ClassRoc roc = class_roc(std::vector<double>(5, 0.5), std::vector<std::int64_t>{1, 0, 1, 0, 2}, 1);
  EXPECT_EQ(roc.curve.value().area, 0.5);
  for (std::size_t step = 0; step <= 100; ++step) {
    EXPECT_DOUBLE_EQ(rate(roc, step), static_cast<double>(step) / 100);
  }
}

// Of the six pairs, three are in order and one is a tie. Corners: (0, 0), (0, 1/3), (1/2, 2/3), (1, 2/3),
// (1, 1).
TEST(Roc, OfFiveExamplesWithATie) {
  const std::vector<double> scores = {0.1, 0.6, 0.3, 0.9, 0.6};
  const std::vector<std::int64_t> labels = {3, 3, 0, 3, 1};
  const ClassRoc roc = class_roc(scores, labels, 3);
  EXPECT_EQ(roc.positives, 3);
  EXPECT_EQ(roc.negatives, 2);
  EXPECT_DOUBLE_EQ(roc.curve.value().area, 3.5 / 6);
  EXPECT_DOUBLE_EQ(rate(roc, 0), 1.0 / 3);
  EXPECT_DOUBLE_EQ(rate(roc, 25), 0.5);
  EXPECT_DOUBLE_EQ(rate(roc, 50), 2.0 / 3);
  EXPECT_DOUBLE_EQ(rate(roc, 75), 2.0 / 3);
  EXPECT_DOUBLE_EQ(rate(roc, 100), 1);
}

TEST(Roc, AreaIsTheMannWhitneyStatistic) {
  Stream stream({.seed = 1});
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const RocSample sample = roc_sample(stream, 3 + trial % 40, 1 + trial % 9);
    std::int64_t doubled = 0, pairs = 0;
    for (std::size_t i = 0; i < sample.labels.size(); ++i) {
      for (std::size_t j = 0; j < sample.labels.size(); ++j) {
        if (sample.labels[i] != 1 || sample.labels[j] == 1) continue;
        ++pairs;
        doubled += sample.scores[i] > sample.scores[j] ? 2 : sample.scores[i] == sample.scores[j] ? 1 : 0;
      }
    }
    const ClassRoc roc = class_roc(sample.scores, sample.labels, 1);
    ASSERT_EQ(roc.curve.has_value(), pairs > 0);
    if (pairs == 0) continue;
    EXPECT_EQ(roc.curve->area, static_cast<double>(doubled) / static_cast<double>(2 * pairs));
  }
}

// The thresholds that give a false positive rate just below and just above, and a line between both.
TEST(Roc, RatesLieOnLinesBetweenThresholds) {
  Stream stream({.seed = 2});
  for (int trial = 0; trial < 100; ++trial) {
    const RocSample sample = roc_sample(stream, 50, 7);
    const ClassRoc roc = class_roc(sample.scores, sample.labels, 1);
    if (!roc.curve) continue;
    for (std::int64_t step = 0; step <= kRocSteps; ++step) {
      double low = 0, high = 1, below = 0, above = 1;
      const double wanted = static_cast<double>(step) / kRocSteps;
      for (int threshold = 10; threshold >= -1; --threshold) {
        double hits = 0, alarms = 0;
        for (std::size_t i = 0; i < sample.scores.size(); ++i) {
          if (sample.scores[i] >= threshold) ++(sample.labels[i] == 1 ? hits : alarms);
        }
        hits /= static_cast<double>(roc.positives);
        alarms /= static_cast<double>(roc.negatives);
        if (alarms <= wanted + 1e-12) {
          low = alarms;
          below = hits;
        } else if (high >= alarms) {
          high = alarms;
          above = std::min(above, hits);
        }
      }
      const double expected = low >= wanted ? below : below + (above - below) * (wanted - low) / (high - low);
      EXPECT_NEAR(rate(roc, static_cast<std::size_t>(step)), expected, 1e-9);
    }
  }
}

TEST(Roc, DependsOnTheOrderOfScoresAlone) {
  Stream stream({.seed = 3});
  const RocSample sample = roc_sample(stream, 300, 20);
  const ClassRoc roc = class_roc(sample.scores, sample.labels, 1);
  RocSample mapped = sample;
  for (double& score : mapped.scores) score = std::exp(score / 4) - 7;
  EXPECT_EQ(class_roc(mapped.scores, mapped.labels, 1), roc);
  std::reverse(mapped.scores.begin(), mapped.scores.end());
  std::reverse(mapped.labels.begin(), mapped.labels.end());
  EXPECT_EQ(class_roc(mapped.scores, mapped.labels, 1), roc);
  for (double& score : mapped.scores) score = -score;
  EXPECT_NEAR(class_roc(mapped.scores, mapped.labels, 1).curve->area, 1 - roc.curve->area, 1e-15);
}

TEST(Roc, BoundsItsAreaByItsRates) {
  Stream stream({.seed = 4});
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const RocSample sample = roc_sample(stream, 20 + trial, 1 + trial % 30);
    const ClassRoc roc = class_roc(sample.scores, sample.labels, 1);
    const RocRates& rates = roc.curve.value().true_positive_rates;
    EXPECT_TRUE(std::is_sorted(rates.begin(), rates.end()));
    EXPECT_EQ(rates.back(), 1);
    const AreaBounds bounds = area_bounds(rates);
    EXPECT_GE(roc.curve->area, bounds.least - 1e-12);
    EXPECT_LE(roc.curve->area, bounds.largest + 1e-12);
    EXPECT_LE(bounds.largest - bounds.least, 0.01 + 1e-12);
  }
}

TEST(Roc, NeedsBothKindsOfExamplesAndNumbers) {
  const std::vector<double> scores = {0.5, 0.25};
  EXPECT_EQ(class_roc(scores, std::vector<std::int64_t>{0, 0}, 1),
            (ClassRoc{.positives = 0, .negatives = 2, .curve = std::nullopt}));
  EXPECT_EQ(class_roc(scores, std::vector<std::int64_t>{1, 1}, 1),
            (ClassRoc{.positives = 2, .negatives = 0, .curve = std::nullopt}));
  const std::vector<std::int64_t> labels = {1, 0};
  EXPECT_EQ(class_roc(std::vector{0.5, kNan}, labels, 1),
            (ClassRoc{.positives = 1, .negatives = 1, .curve = std::nullopt}));
  EXPECT_EQ(class_roc(std::vector{kInfinity, -kInfinity}, labels, 1).curve.value().area, 1);
}

TEST(Roc, AveragesOverTheClassesThatHaveACurve) {
  const std::vector<std::int64_t> labels = {0, 1, 0, 1};
  const ClassRoc perfect = class_roc(std::vector<double>{2, 1, 2, 1}, labels, 0);
  const ClassRoc ties = class_roc(std::vector<double>{1, 1, 1, 1}, labels, 1);
  const ClassRoc absent = class_roc(std::vector<double>{1, 1, 1, 1}, labels, 2);
  const std::optional<RocCurve> average = macro_average({.examples = 4, .classes = {perfect, absent, ties}});
  ASSERT_TRUE(average.has_value());
  EXPECT_EQ(average->area, 0.75);
  EXPECT_DOUBLE_EQ(average->true_positive_rates[0], 0.5);
  EXPECT_DOUBLE_EQ(average->true_positive_rates[40], 0.7);
  EXPECT_THAT(macro_average({.examples = 4, .classes = {perfect}}), Optional(*perfect.curve));
  EXPECT_EQ(macro_average({.examples = 4, .classes = {absent}}), std::nullopt);
}

}  // namespace
}  // namespace fedarena::results
