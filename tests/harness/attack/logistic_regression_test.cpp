#include "harness/attack/logistic_regression.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/infinity.hpp"

namespace fedarena {
namespace {

// One feature with two values: the odds at each are the counts there.
TEST(LogisticRegression, HasTheOddsOfTheCounts) {
  LogisticRegression::Rows positives(600, {1.0}), negatives(200, {1.0});
  positives.insert(positives.end(), 100, {-2.0});
  negatives.insert(negatives.end(), 500, {-2.0});
  const std::vector<double> logits = LogisticRegression(positives, negatives).logits({{1.0}, {-2.0}});
  EXPECT_NEAR(logits[0], std::log(3.0), 1e-4);
  EXPECT_NEAR(logits[1], std::log(0.2), 1e-4);
}

TEST(LogisticRegression, StaysFiniteWhateverItIsGiven) {
  // Told apart without a fault, a feature that says nothing, and one that is infinite.
  const LogisticRegression regression({{1, 5, 0}, {2, 5, kInfinity}}, {{-1, 5, 0}, {-2, 5, 0}});
  const std::vector<double> logits = regression.logits({{1, 5, 0}, {-1, 5, 0}});
  EXPECT_TRUE(std::isfinite(logits[0]) && std::isfinite(logits[1]));
  EXPECT_GT(logits[0], 1);
  EXPECT_LT(logits[1], -1);
}

// A loss and its gradient's length as those of a network that learnt by heart, over 14 powers of ten: whole
// steps of Newton's method lead away from the best odds here, which another program found.
TEST(LogisticRegression, FindsTheBestOddsOfFeaturesWithLongTails) {
  const auto rows_up_to = [](double exponent) {
    LogisticRegression::Rows rows;
    for (int i = 0; i < 50; ++i) {
      const double loss = std::pow(10, -13 + (exponent + 13) * i / 49);
      const double norm = 130 * loss / (loss + 0.3) * (i % 2 == 0 ? 1.0 / 3 : 3);
      std::vector<double>& row = rows.emplace_back();
      for (const double s : {loss, norm}) row.insert(row.end(), {s, s * s, std::log(std::max(s, 1e-12))});
    }
    return rows;
  };
  const LogisticRegression::Rows members = rows_up_to(-3), others = rows_up_to(1.25);
  const LogisticRegression regression(members, others);
  double loss = 0;
  for (const double logit : regression.logits(members)) loss += std::log1p(std::exp(-logit));
  for (const double logit : regression.logits(others)) loss += std::log1p(std::exp(logit));
  EXPECT_NEAR(loss, 59.6846, 1e-3);
}

}  // namespace
}  // namespace fedarena
