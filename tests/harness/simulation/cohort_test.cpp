// Error rates: each chi-square comparison below raises a false alarm with probability 1e-6 over seeds.
#include "harness/simulation/cohort.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/base/statistical_bounds.hpp"

namespace fedarena {
namespace {

using Cohort = std::vector<std::int64_t>;

TEST(Cohort, IsEveryoneWhenAllTakePart) {
  EXPECT_EQ(choose_cohort(1, 1, 4, 4), (Cohort{0, 1, 2, 3}));
  EXPECT_EQ(choose_cohort(9, 7, 4, 4), (Cohort{0, 1, 2, 3}));
  EXPECT_EQ(choose_cohort(9, 7, 1, 1), (Cohort{0}));
}

TEST(Cohort, HoldsDistinctClientsInAscendingOrder) {
  for (std::int64_t size = 1; size < 20; ++size) {
    for (std::int64_t round = 1; round <= 50; ++round) {
      const Cohort cohort = choose_cohort(3, round, 20, size);
      ASSERT_EQ(static_cast<std::int64_t>(cohort.size()), size);
      EXPECT_TRUE(std::is_sorted(cohort.begin(), cohort.end()));
      EXPECT_EQ(std::set<std::int64_t>(cohort.begin(), cohort.end()).size(), cohort.size());
      EXPECT_GE(cohort.front(), 0);
      EXPECT_LT(cohort.back(), 20);
    }
  }
}

TEST(Cohort, IsAFunctionOfSeedAndRound) {
  for (std::int64_t round = 1; round <= 20; ++round) {
    EXPECT_EQ(choose_cohort(3, round, 1000, 50), choose_cohort(3, round, 1000, 50));
    EXPECT_NE(choose_cohort(3, round, 1000, 50), choose_cohort(4, round, 1000, 50));
    EXPECT_NE(choose_cohort(3, round, 1000, 50), choose_cohort(3, round + 1, 1000, 50));
  }
}

// All 20 subsets of 3 out of 6 clients are equally likely.
TEST(Cohort, IsAUniformSubset) {
  std::map<Cohort, std::int64_t> counts;
  for (std::int64_t round = 1; round <= 20'000; ++round) ++counts[choose_cohort(12, round, 6, 3)];
  std::vector<std::int64_t> cells(20);
  ASSERT_EQ(counts.size(), cells.size());
  std::transform(counts.begin(), counts.end(), cells.begin(), [](const auto& entry) { return entry.second; });
  EXPECT_TRUE(equally_likely(cells));
}

// So is one in the long run of seeds, not of rounds.
TEST(Cohort, IsAUniformSubsetOverSeeds) {
  std::map<Cohort, std::int64_t> counts;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) ++counts[choose_cohort(seed, 1, 6, 3)];
  std::vector<std::int64_t> cells(20);
  ASSERT_EQ(counts.size(), cells.size());
  std::transform(counts.begin(), counts.end(), cells.begin(), [](const auto& entry) { return entry.second; });
  EXPECT_TRUE(equally_likely(cells));
}

// Pairs of single-client cohorts of successive rounds fill 25 cells alike.
TEST(Cohort, IsIndependentOfTheRoundBefore) {
  std::vector<std::int64_t> cells(25);
  for (std::int64_t pair = 0; pair < 20'000; ++pair) {
    const std::int64_t first = choose_cohort(13, 2 * pair + 1, 5, 1)[0];
    const std::int64_t second = choose_cohort(13, 2 * pair + 2, 5, 1)[0];
    ++cells[static_cast<std::size_t>(5 * first + second)];
  }
  EXPECT_TRUE(equally_likely(cells));
}

}  // namespace
}  // namespace fedarena
