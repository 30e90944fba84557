// Error rates: each chi-square comparison below raises a false alarm with probability 1e-6 over seeds.
#include "harness/simulation/cohort.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "fedarena/base/error.hpp"

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/sdk/numbers_of.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using Cohort = std::vector<std::int64_t>;

TEST(Cohort, IsEveryoneWhenAllTakePart) {
  EXPECT_EQ(draw_cohort(1, 1, 4, 4), (Cohort{0, 1, 2, 3}));
  EXPECT_EQ(draw_cohort(9, 7, 4, 4), (Cohort{0, 1, 2, 3}));
  EXPECT_EQ(draw_cohort(9, 7, 1, 1), (Cohort{0}));
}

TEST(Cohort, HoldsDistinctClientsInAscendingOrder) {
  for (std::int64_t size = 1; size < 20; ++size) {
    for (std::int64_t round = 1; round <= 50; ++round) {
      const Cohort cohort = draw_cohort(3, round, 20, size);
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
    EXPECT_EQ(draw_cohort(3, round, 1000, 50), draw_cohort(3, round, 1000, 50));
    EXPECT_NE(draw_cohort(3, round, 1000, 50), draw_cohort(4, round, 1000, 50));
    EXPECT_NE(draw_cohort(3, round, 1000, 50), draw_cohort(3, round + 1, 1000, 50));
  }
}

TEST(HeldOutClients, AreAFunctionOfTheSeed) {
  EXPECT_EQ(choose_held_out(3, 1000, 50), choose_held_out(3, 1000, 50));
  EXPECT_NE(choose_held_out(3, 1000, 50), choose_held_out(4, 1000, 50));
  EXPECT_TRUE(choose_held_out(3, 1000, 0).empty());
}

// Of all 20 subsets of 3 out of 6 clients, over rounds and, which is another thing, over seeds.
TEST(Cohort, IsAUniformSubset) {
  std::int64_t round = 0;
  EXPECT_TRUE(draws_equally(20'000, 20, [&] { return draw_cohort(12, ++round, 6, 3); }));
  std::uint64_t seed = 0;
  EXPECT_TRUE(draws_equally(20'000, 20, [&] { return draw_cohort(++seed, 1, 6, 3); }));
}

// Pairs of single-client cohorts of successive rounds fill 25 cells alike.
TEST(Cohort, IsIndependentOfTheRoundBefore) {
  std::vector<std::int64_t> cells(25);
  for (std::int64_t pair = 0; pair < 20'000; ++pair) {
    const std::int64_t first = draw_cohort(13, 2 * pair + 1, 5, 1)[0];
    const std::int64_t second = draw_cohort(13, 2 * pair + 2, 5, 1)[0];
    ++cells[static_cast<std::size_t>(5 * first + second)];
  }
  EXPECT_TRUE(equally_likely(cells));
}

Message message(const std::vector<double>& values, std::int64_t examples) {
  return {{kUpdate, vector_of(values)}, {kExamples, examples}};
}

TEST(Uplink, AveragesAlike) {
  const CohortUplink uplink(
      {message({1, 10}, 3), message({3, 30}, 0), message({5, -10}, 1), message({-1, 2}, 4)});
  EXPECT_EQ(uplink.size(), 4);
  EXPECT_EQ(numbers_of(uplink.mean(kUpdate)), (std::vector<double>{2, 8}));
}

TEST(Uplink, AveragesByAnotherEntry) {
  const CohortUplink uplink({message({1, 10}, 3), message({3, 30}, 0), message({5, -10}, 1)});
  EXPECT_EQ(numbers_of(uplink.mean(kUpdate, kExamples)), (std::vector<double>{2, 5}));
}

TEST(Uplink, OfOneClientIsItsMessage) {
  const CohortUplink uplink({message({1.1, 10.3}, 7)});
  EXPECT_EQ(numbers_of(uplink.mean(kUpdate)), (std::vector<double>{1.1, 10.3}));
  EXPECT_EQ(numbers_of(uplink.mean(kUpdate, kExamples)), (std::vector<double>{1.1, 10.3}));
}

TEST(Uplink, ShowsItsMessagesInOrder) {
  const CohortUplink uplink({message({1}, 3), message({2}, 1)});
  ASSERT_EQ(uplink.each().size(), 2U);
  EXPECT_EQ(uplink.each()[0][kExamples], 3);
  EXPECT_EQ(uplink.each()[1][kExamples], 1);
}

TEST(Uplink, LeavesItsMessagesAlone) {
  const CohortUplink uplink({message({1}, 3), message({2}, 1)});
  const double before = uplink.mean(kUpdate).flat().sum().item<double>();
  (void)uplink.mean(kUpdate, kExamples);
  EXPECT_EQ(uplink.mean(kUpdate).flat().sum().item<double>(), before);
}

// The sum runs in client order: with numbers whose sum depends on it, this is the only right answer.
TEST(Uplink, SumsInClientOrder) {
  const CohortUplink uplink({message({3e16}, 1), message({1}, 1), message({-3e16}, 1), message({1}, 1)});
  double sum = 0;
  for (const double value : {3e16, 1.0, -3e16, 1.0}) sum += 0.25 * value;
  EXPECT_EQ(numbers_of(uplink.mean(kUpdate)), std::vector<double>{sum});
}

TEST(Uplink, RefusesAMeanOfNothing) {
  const CohortUplink weightless({message({1}, 0), message({2}, 0)});
  EXPECT_EQ(test::message_of([&] { weightless.mean(kUpdate, kExamples); }),
            "no client of the cohort has any weight in the mean of \"update\"");
  EXPECT_THROW(CohortUplink({}).mean(kUpdate), Error);
}

TEST(Uplink, RefusesWhatNoHarnessWouldSend) {
  EXPECT_THROW(CohortUplink({message({1}, -1), message({2}, 4)}).mean(kUpdate, kExamples), Error);
  EXPECT_THROW(CohortUplink({message({1}, 1), message({2, 3}, 1)}).mean(kUpdate), Bug);
  EXPECT_THROW(CohortUplink({message({1}, 1), Message()}).mean(kUpdate), Bug);
}

}  // namespace
}  // namespace fedarena
