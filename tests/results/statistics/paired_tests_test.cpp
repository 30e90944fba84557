#include "results/statistics/paired_tests.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "fedarena/base/stream.hpp"

#include "tests/matchers.hpp"

namespace fedarena::results {
namespace {

using ::testing::DoubleNear;

// Student, "The probable error of a mean" (1908), hours of sleep gained with two drugs; R's t.test prints t =
// 4.0621, p = 0.002833 and the interval 0.7001142 to 2.4598858.
TEST(PairedT, AgreesWithStudentsSleepData) {
  const std::vector<double> gained = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const auto test = paired_t_test(gained, 0.95);
  ASSERT_TRUE(test);
  EXPECT_NEAR(test->statistic, 4.0621, 5e-5);
  EXPECT_NEAR(test->p, 0.002833, 5e-7);
  EXPECT_NEAR(test->interval.low, 0.7001142, 5e-8);
  EXPECT_NEAR(test->interval.high, 2.4598858, 5e-8);
}

// With one and two degrees of freedom the distribution has a closed form.
TEST(PairedT, AgreesWithTheClosedFormsOfTwoAndThreeDifferences) {
  Stream stream({.seed = 1});
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> differences = {stream.normal(), stream.normal()};
    const auto two = paired_t_test(differences, 0.95);
    EXPECT_NEAR(two->p, 1 - 2 / std::numbers::pi * std::atan(std::abs(two->statistic)), 1e-12);
    EXPECT_NEAR(two->statistic, (differences[0] + differences[1]) / std::abs(differences[0] - differences[1]),
                1e-9);
    differences.push_back(stream.normal());
    const auto three = paired_t_test(differences, 0.95);
    const double t = std::abs(three->statistic);
    EXPECT_NEAR(three->p, 1 - t / std::sqrt(2 + t * t), 1e-12);
  }
}

TEST(PairedT, KnowsNothingOfTheSpreadOfEqualOrSingleDifferences) {
  EXPECT_FALSE(paired_t_test(std::vector<double>{}, 0.95));
  EXPECT_FALSE(paired_t_test(std::vector{0.5}, 0.95));
  EXPECT_FALSE(paired_t_test(std::vector{0.1, 0.1, 0.1}, 0.95));
  EXPECT_FALSE(paired_t_test(std::vector{0.0, 0.0, 0.0}, 0.95));
}

TEST(PairedT, IsTheSameInEveryUnit) {
  const auto small = paired_t_test(std::vector{0.01, 0.03, 0.02}, 0.95);
  const auto huge = paired_t_test(std::vector{0.01 * 1e300, 0.03 * 1e300, 0.02 * 1e300}, 0.95);
  EXPECT_NEAR(huge->p, small->p, 1e-14);
  EXPECT_NEAR(huge->interval.high / 1e300, small->interval.high, 1e-14);
  const auto negated = paired_t_test(std::vector{-0.01, -0.03, -0.02}, 0.95);
  EXPECT_EQ(negated->p, small->p);
  EXPECT_EQ(negated->interval.low, -small->interval.high);
}

// The interval, which is that of a spread, holds the mean of normal differences in 95 of 100 cases, whatever
// their number. 4,000 cases have a standard deviation of 0.0034; a right program fails with probability below
// 1e-4.
TEST(PairedT, HoldsTheMeanAsOftenAsItSays) {
  for (const int count : {2, 3, 5, 10}) {
    Stream stream({.seed = 2, .round = count});
    int held = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      std::vector<double> differences(static_cast<std::size_t>(count));
      for (double& difference : differences) difference = 0.3 + stream.normal();
      const Interval interval = paired_t_test(differences, 0.95)->interval;
      held += interval.low <= 0.3 && 0.3 <= interval.high ? 1 : 0;
      const Spread spread = spread_of(differences);
      ASSERT_NEAR(interval.low, spread.mean - *spread.half_width, 1e-12 * (1 + *spread.half_width));
      ASSERT_NEAR(interval.high, spread.mean + *spread.half_width, 1e-12 * (1 + *spread.half_width));
    }
    EXPECT_NEAR(held / 4000.0, kIntervalLevel, 0.0135) << count;
  }
}

TEST(PairedDifferences, AreEqualWhereDecimalsAre) {
  const std::vector<double> left = {0.3, 0.4, 0.9, 0.3}, right = {0.1, 0.2, 0.7, 0.3};
  ASSERT_NE(left[0] - right[0], left[1] - right[1]);
  const std::vector<double> differences = paired_differences(left, right);
  EXPECT_EQ(differences[0], differences[1]);
  EXPECT_EQ(differences[1], differences[2]);
  EXPECT_NEAR(differences[0], 0.2, 1e-12);
  EXPECT_EQ(differences[3], 0);
  EXPECT_EQ(paired_differences(std::vector{0.0}, std::vector{0.0}), std::vector{0.0});
}

TEST(PairedDifferences, KeepTwelveDigitsOfAnySize) {
  for (const double size : {1e-300, 1e-20, 1.0, 1e30, 1e300}) {
    const double difference = paired_differences(std::vector{3 * size}, std::vector{2.5 * size}).front();
    EXPECT_NEAR(difference / size, 0.5, 3e-12) << size;
  }
}

double p_of(const std::vector<double>& differences) { return signed_rank_test(differences).p; }

// 1, ..., n, of which the named are negative.
std::vector<double> consecutive(int count, const std::vector<int>& negative) {
  std::vector<double> values;
  for (int i = 1; i <= count; ++i) values.push_back(i);
  for (const int i : negative) values[static_cast<std::size_t>(i - 1)] *= -1;
  return values;
}

// Of 2^n choices of signs, those whose negative ranks sum to at most w: 1, 2, 3, 5 for w = 0, 1, 2, 3.
TEST(SignedRank, AgreesWithCountingByHand) {
  EXPECT_EQ(p_of(consecutive(3, {})), 2 * 1.0 / 8);
  EXPECT_EQ(p_of(consecutive(3, {1})), 2 * 2.0 / 8);
  EXPECT_EQ(p_of(consecutive(3, {2})), 2 * 3.0 / 8);
  EXPECT_EQ(p_of(consecutive(3, {3})), 1);
  EXPECT_EQ(p_of(consecutive(5, {})), 2 * 1.0 / 32);
  EXPECT_EQ(p_of(consecutive(5, {1})), 2 * 2.0 / 32);
  EXPECT_EQ(p_of(consecutive(5, {2})), 2 * 3.0 / 32);
  EXPECT_EQ(p_of(consecutive(5, {1, 2})), 2 * 5.0 / 32);
  EXPECT_EQ(p_of(consecutive(5, {3})), 2 * 5.0 / 32);
}

// The critical value of ten pairs at 5 %, two-sided, is 8 in every table: there are 25 ways up to 8, 33 up
// to 9.
TEST(SignedRank, HasThePrintedCriticalValue) {
  EXPECT_EQ(p_of(consecutive(10, {8})), 2 * 25.0 / 1024);
  EXPECT_EQ(p_of(consecutive(10, {9})), 2 * 33.0 / 1024);
}

TEST(SignedRank, KnowsTheLeastThatSoFewCanGive) {
  for (int count = 1; count <= 20; ++count) {
    const SignedRank test = signed_rank_test(consecutive(count, {}));
    EXPECT_EQ(test.p, test.least);
    EXPECT_EQ(test.least, std::pow(0.5, count - 1));
    EXPECT_EQ(test.used, static_cast<std::size_t>(count));
  }
}

TEST(SignedRank, LeavesOutZeros) {
  const SignedRank test = signed_rank_test(std::vector{0.0, 3.0, -0.0, 1.0, 2.0});
  EXPECT_EQ(test.used, 3U);
  EXPECT_EQ(test.p, 0.25);
  EXPECT_EQ(test.least, 0.25);
  const SignedRank nothing = signed_rank_test(std::vector{0.0, 0.0});
  EXPECT_EQ(nothing.p, 1);
  EXPECT_EQ(nothing.least, 1);
  EXPECT_EQ(nothing.used, 0U);
}

// Every choice of signs, with ranks that are counted by comparing each with each.
double by_enumeration(const std::vector<double>& differences) {
  std::vector<double> ranks;
  double observed = 0;
  for (const double difference : differences) {
    double rank = 0.5;
    for (const double other : differences) {
      if (std::abs(other) < std::abs(difference)) rank += 1;
      if (std::abs(other) == std::abs(difference)) rank += 0.5;
    }
    ranks.push_back(rank);
    observed += difference > 0 ? rank : -rank;
  }
  const std::uint64_t choices = std::uint64_t{1} << ranks.size();
  std::uint64_t as_extreme = 0;
  for (std::uint64_t choice = 0; choice < choices; ++choice) {
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += (choice >> i & 1) != 0 ? ranks[i] : -ranks[i];
    as_extreme += std::abs(sum) >= std::abs(observed) - 1e-9 ? 1 : 0;
  }
  return static_cast<double>(as_extreme) / static_cast<double>(choices);
}

TEST(SignedRank, AgreesWithEnumerationAlsoWithTies) {
  Stream stream({.seed = 3});
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> differences(1 + stream.below(12));
    const std::uint64_t sizes = 1 + stream.below(20);  // few sizes make many ties
    for (double& difference : differences)
      difference = static_cast<double>(1 + stream.below(sizes)) * (stream.below(3) == 0 ? -1 : 1);
    ASSERT_NEAR(p_of(differences), by_enumeration(differences), 1e-12);
  }
}

// The probability that the ranks 1, ..., count with random signs have a sum of positive ones of at most
// `sum`.
double probability_up_to(int count, int sum) {
  std::vector<double> probability(static_cast<std::size_t>(sum) + 1);
  probability[0] = 1;
  for (int rank = 1; rank <= count; ++rank) {
    for (int i = sum; i >= 0; --i) {
      const double chosen = i >= rank ? probability[static_cast<std::size_t>(i - rank)] : 0;
      probability[static_cast<std::size_t>(i)] = (probability[static_cast<std::size_t>(i)] + chosen) / 2;
    }
  }
  double total = 0;
  for (const double share : probability) total += share;
  return total;
}

// Beyond the number that is counted exactly, the normal distribution is right to 0.001, which it is not
// without its correction for steps.
TEST(SignedRank, GoesOverToTheNormalDistribution) {
  for (const int count : {49, 50, 51, 60, 100}) {
    for (const int every : {2, 3, 4}) {
      std::vector<int> negative;
      int sum = 0;
      for (int i = every; i <= count; i += every) {
        negative.push_back(i);
        sum += i;
      }
      const double exact =
          std::min(1.0, 2 * probability_up_to(count, std::min(sum, count * (count + 1) / 2 - sum)));
      EXPECT_NEAR(p_of(consecutive(count, negative)), exact, count <= 50 ? 1e-12 : 0.001)
          << count << ", " << every;
    }
  }
}

// By definition p is at most a with probability at most a; as ranks are discrete, here clearly less. 4,000
// cases; a right program fails with probability below 1e-4.
TEST(SignedRank, RejectsSymmetricDifferencesNoMoreOftenThanItSays) {
  for (const int count : {5, 8, 20, 60}) {
    Stream stream({.seed = 4, .round = count});
    int rejected = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      std::vector<double> differences(static_cast<std::size_t>(count));
      for (double& difference : differences) difference = stream.normal() * (1 + stream.uniform());
      rejected += p_of(differences) <= 0.05 ? 1 : 0;
    }
    EXPECT_LE(rejected, 4000 * 0.05 + 4 * std::sqrt(4000 * 0.05 * 0.95)) << count;
    if (count == 5) {
      EXPECT_EQ(rejected, 0);
    } else {
      EXPECT_GE(rejected, 4000 * 0.03) << count;
    }
  }
}

TEST(Holm, AgreesWithStepsByHand) {
  // Ascending: 0.005 x 4 = 0.02, 0.01 x 3 = 0.03, 0.03 x 2 = 0.06, and 0.04 x 1 is raised to that.
  EXPECT_THAT(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-15), DoubleNear(0.06, 1e-15), DoubleNear(0.06, 1e-15),
                          DoubleNear(0.02, 1e-15)));
}

TEST(Holm, LeavesASingleTestAsItIsAndNeverExceedsOne) {
  EXPECT_THAT(holm_adjusted(std::vector<double>{}), IsEmpty());
  EXPECT_THAT(holm_adjusted(std::vector{0.04}), ElementsAre(0.04));
  EXPECT_THAT(holm_adjusted(std::vector{0.9, 0.4, 1.0}), ElementsAre(1, 1, 1));
}

TEST(Holm, TreatsEqualTestsAlike) {
  EXPECT_THAT(holm_adjusted(std::vector{0.25, 0.125, 0.125}), ElementsAre(0.375, 0.375, 0.375));
}

}  // namespace
}  // namespace fedarena::results
