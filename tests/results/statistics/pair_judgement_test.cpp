// How often the verdict is wrong, and how often it finds what is there, over tables that were made up.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/stream.hpp"

#include "results/statistics/paired_tests.hpp"

namespace fedarena::results {
namespace {

using Differences = std::vector<std::vector<double>>;

// How results of a table come about: a seed moves all algorithms alike, a run by itself less, now and then
// one collapses, and accuracies are shares of so many test examples.
struct World {
  double seed_effect = 0.03;
  double run_effect = 0.005;
  double collapse = 0.02;  // probability
  double examples = 10000;
};

// Accuracies by algorithm and seed; algorithm i has `advantages[i]`.
Differences table(Stream& stream, const World& world, const std::vector<double>& advantages, int seeds) {
  std::vector<std::vector<double>> accuracies(advantages.size());
  for (int seed = 0; seed < seeds; ++seed) {
    const double common = 0.7 + world.seed_effect * stream.normal();
    for (std::size_t i = 0; i < advantages.size(); ++i) {
      double accuracy = common + advantages[i] + world.run_effect * stream.normal();
      if (stream.uniform() < world.collapse) accuracy -= 0.3 * stream.uniform();
      accuracies[i].push_back(std::round(accuracy * world.examples) / world.examples);
    }
  }
  Differences pairs;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    for (std::size_t j = i + 1; j < accuracies.size(); ++j)
      pairs.push_back(paired_differences(accuracies[i], accuracies[j]));
  }
  return pairs;
}

bool shows_something(const Differences& pairs) {
  for (const PairJudgement& pair : judge_pairs(pairs)) {
    if (pair.finding == Finding::kAboveZero || pair.finding == Finding::kBelowZero) return true;
  }
  return false;
}

// Of 1,000 tables of algorithms that are all the same, those in which some algorithm wins.
int false_wins(Stream& stream, const World& world, const std::vector<int>& algorithms,
               const std::vector<int>& seeds) {
  int wins = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto count = static_cast<std::size_t>(algorithms[i % algorithms.size()]);
    const int of_seeds = seeds[i / algorithms.size() % seeds.size()];
    wins += shows_something(table(stream, world, std::vector<double>(count), of_seeds)) ? 1 : 0;
  }
  return wins;
}

// The promise: at most 5 % of tables, whatever the number of algorithms and seeds in them.
TEST(PairJudgement, NamesAFalseWinnerInAtMostFivePercentOfTables) {
  Stream stream({.seed = 7});
  EXPECT_LE(false_wins(stream, {}, {2, 3, 4, 6}, {3, 5, 10}), 50);
}

// The same for each kind of table by itself: with two algorithms and normal results the rate is 5 % exactly,
// so 1,000 tables may have 72 wins with probability 0.1 %. Coarse results (100 test examples) must not help
// either: three seeds often agree by chance.
TEST(PairJudgement, KeepsToFivePercentForEveryKindOfTable) {
  const std::vector<World> worlds = {{.collapse = 0},
                                     {},
                                     {.seed_effect = 0.3, .run_effect = 0.02},
                                     {.run_effect = 0.01, .collapse = 0, .examples = 100},
                                     {.run_effect = 0.002, .collapse = 0, .examples = 100}};
  for (std::size_t world = 0; world < worlds.size(); ++world) {
    for (const int algorithms : {2, 3, 6}) {
      for (const int seeds : {3, 5, 10}) {
        Stream stream({.seed = 8, .round = seeds, .client = algorithms, .index = world});
        EXPECT_LE(false_wins(stream, worlds[world], {algorithms}, {seeds}), 72)
            << "world " << world << ", " << algorithms << " algorithms, " << seeds << " seeds";
      }
    }
  }
}

// The rule does say something: an exact test rejects 5 % of true hypotheses, and 1,000 tables have fewer than
// 29 with probability 0.1 %.
TEST(PairJudgement, IsNoMoreCautiousThanItSays) {
  Stream stream({.seed = 9});
  EXPECT_GE(false_wins(stream, {.collapse = 0}, {2}, {5}), 29);
}

// An advantage of three standard deviations of the difference, far below what seeds differ by: 5 seeds find
// it in at least 95 % of tables, for the right algorithm in all of them.
TEST(PairJudgement, FindsWhatPairingShows) {
  Stream stream({.seed = 10});
  const World world{.collapse = 0};
  const double advantage = 3 * world.run_effect * std::sqrt(2.0);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    const PairJudgement pair = judge_pairs(table(stream, world, {0, advantage}, 5)).front();
    EXPECT_NE(pair.finding, Finding::kAboveZero);
    found += pair.finding == Finding::kBelowZero ? 1 : 0;
  }
  EXPECT_GE(found, 950);
}

TEST(PairJudgement, SaysNothingOfOneOrTwoSeeds) {
  const auto pairs = judge_pairs(Differences{{}, {0.5}, {0.5, 0.5001}});
  for (const PairJudgement& pair : pairs) {
    EXPECT_EQ(pair.finding, Finding::kNoStatement);
    EXPECT_FALSE(pair.holm);
  }
  EXPECT_FALSE(pairs[1].p);
  EXPECT_LT(*pairs[2].p, 0.001);
}

// Three equal differences would have an infinite t.
TEST(PairJudgement, IsNotFooledByEqualDifferences) {
  const PairJudgement three = judge_pairs(Differences{{0.01, 0.01, 0.01}}).front();
  EXPECT_EQ(three.finding, Finding::kNoDifference);
  EXPECT_EQ(three.holm, 0.25);
  EXPECT_EQ(judge_pairs(Differences{std::vector(5, 0.01)}).front().finding, Finding::kNoDifference);
  EXPECT_EQ(judge_pairs(Differences{std::vector(6, -0.01)}).front().finding, Finding::kBelowZero);
  const PairJudgement none = judge_pairs(Differences{{0, 0, 0}}).front();
  EXPECT_EQ(none.finding, Finding::kNoDifference);
  EXPECT_EQ(none.holm, 1);
}

TEST(PairJudgement, CountsPairsOfWhichNothingCanBeSaid) {
  const std::vector<double> clear = {0.010, 0.011, 0.012};
  const double alone = *judge_pairs(Differences{clear}).front().holm;
  const double among_three = *judge_pairs(Differences{clear, {}, {0.5}}).front().holm;
  EXPECT_NEAR(among_three, 3 * alone, 1e-15);
  EXPECT_EQ(judge_pairs(Differences{clear}).front().finding, Finding::kAboveZero);
}

}  // namespace
}  // namespace fedarena::results
