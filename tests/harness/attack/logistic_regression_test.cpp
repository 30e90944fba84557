#include "harness/attack/logistic_regression.hpp"

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

}  // namespace
}  // namespace fedarena
