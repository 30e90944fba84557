// What tells the published meanings of "Dirichlet" apart. Error rates: see statistical_bounds.hpp, 10^-6 a
// comparison.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/message_of.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using Indices = std::vector<std::int64_t>;
using Counts = std::vector<std::vector<std::int64_t>>;

Settings two_clients(double alpha) {
  return {setting("clients", 2), setting("min_examples", 1), {"alpha", alpha}};
}

// For one share of one class: mean 1/K and variance (K-1) / (K^2 (K alpha + 1)). A single class meets no cap.
// PFLlib's least number, 5000/5/2 = 500 at most, is set to 1.
TEST(DirichletVariants, HaveTheMomentsOfTheirConcentration) {
  constexpr int kDraws = 4'000;
  constexpr double kClients = 5, kAlpha = 2;
  const Labelled data = Labelled::balanced(1, 5'000);
  const double variance = (kClients - 1) / (kClients * kClients * (kClients * kAlpha + 1));
  for (const auto& [kind, least] : std::vector<std::pair<std::string, Settings>>{
           {"dirichlet-niid-bench", {setting("min_examples", 1)}},
           {"dirichlet-flower", {setting("min_examples", 1)}},
           {"dirichlet-flower", {setting("min_examples", 1), {"self_balancing", true}}},
           {"dirichlet-pfllib", {setting("batch_size", 1), {"train_ratio", 0.0}}},
           {"quantity", {setting("min_examples", 1)}}}) {
    SCOPED_TRACE(kind);
    Settings settings = least;
    settings.emplace_back("alpha", kAlpha);
    std::vector<double> share;
    double fourth = 0;
    for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
      const Partition partition = make_partition(kind, settings, data.input(), seed);
      share.push_back(static_cast<double>(partition[seed % 5].size()) / 5'000);
      fourth += std::pow(share.back() - 1 / kClients, 4) / kDraws;
    }
    EXPECT_LT(std::abs(mean_z(share, 1 / kClients, variance)), kNormalBound);
    EXPECT_LT(std::abs(variance_z(share, 1 / kClients, variance, fourth)), kNormalBound);
  }
}

// At this alpha nearly every class goes to one client as a whole. Of four equal classes and two clients, the
// first who has two of them has half of all examples: NIID-Bench's cap, "fewer than an equal share", gives it
// no more.
TEST(DirichletNiidBench, GivesNothingToWhoHoldsAnEqualShare) {
  const Labelled data = Labelled::balanced(4, 10);
  for (const std::string kind : {"dirichlet-niid-bench", "dirichlet-pfllib"}) {
    const Settings settings = kind == "dirichlet-pfllib"
                                  ? Settings{setting("clients", 2), setting("batch_size", 1), {"alpha", 1e-5}}
                                  : two_clients(1e-5);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      for (const auto& share : make_partition(kind, settings, data.input(), seed))
        EXPECT_EQ(share.size(), 20U);
    }
  }
}

// Flower's, "no more than an equal share", lets it have a third one, and never a fourth; without
// self-balancing there is no cap.
TEST(DirichletFlower, GivesNothingToWhoHoldsMoreThanAnEqualShare) {
  const Labelled data = Labelled::balanced(4, 10);
  Settings balancing = two_clients(0.002);
  balancing.emplace_back("self_balancing", true);
  std::set<std::size_t> capped, uncapped;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const auto& share : make_partition("dirichlet-flower", balancing, data.input(), seed)) {
      capped.insert(share.size());
    }
    for (const auto& share : make_partition("dirichlet-flower", two_clients(0.002), data.input(), seed)) {
      uncapped.insert(share.size());
    }
  }
  EXPECT_EQ(*capped.rbegin(), 30U);
  EXPECT_GT(*uncapped.rbegin(), 30U);
}

// Without a cap in sight, NIID-Bench's draws are those of "dirichlet", class by class.
TEST(DirichletNiidBench, DiffersFromTheUncappedKindByTheCapAlone) {
  const Labelled data = Labelled::balanced(10, 100);
  int same = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Counts capped = class_counts("dirichlet-niid-bench", {{"alpha", 1.0}}, data, seed);
    const Counts uncapped = class_counts("dirichlet", {{"alpha", 1.0}}, data, seed);
    std::vector<std::int64_t> held(5);
    bool met = false;
    for (std::size_t label = 0; label < 10; ++label) {
      met = met || *std::max_element(held.begin(), held.end()) >= 200;
      for (std::size_t client = 0; client < 5; ++client) {
        if (held[client] >= 200) {
          // The last client takes what rounding leaves.
          EXPECT_LE(capped[client][label], client == 4 ? 1 : 0);
        }
        if (!met) {
          EXPECT_EQ(capped[client][label], uncapped[client][label]);
        }
      }
      for (std::size_t client = 0; client < 5; ++client) held[client] += capped[client][label];
    }
    same += capped == uncapped;
  }
  EXPECT_LT(same, 5);
}

TEST(DirichletFlower, CutsClassesInTheOrderOfTheDataSet) {
  const Labelled data = Labelled::balanced(2, 50);
  const Partition partition =
      make_partition("dirichlet-flower", {setting("clients", 3), {"alpha", 5.0}}, data.input(), 2);
  for (const std::int64_t label : {0, 1}) {
    std::int64_t next = label;
    for (const auto& share : partition) {
      for (const std::int64_t index : share) {
        if (index % 2 != label) continue;
        EXPECT_EQ(index, next);
        next += 2;
      }
    }
    EXPECT_EQ(next, 100 + label);
  }
}

// Class 1 holds more than half of the examples. Where it comes first, whoever gets all of it gets nothing
// else; where class 0 comes first, somebody gets that and then all of class 1.
TEST(DirichletFlower, TakesClassesInTheOrderOfTheirFirstExamples) {
  Settings balancing = two_clients(0.002);
  balancing.emplace_back("self_balancing", true);
  const auto both = [&](Indices labels) {
    for (int i = 0; i < 20; ++i) labels.push_back(1);
    for (int i = 0; i < 9; ++i) labels.push_back(0);
    for (int i = 0; i < 9; ++i) labels.push_back(2);
    const Labelled data(labels, 3);
    int clients = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      for (const auto& counts : class_counts("dirichlet-flower", balancing, data, seed)) {
        clients += counts[1] == 21 && counts[0] == 10;
      }
    }
    return clients;
  };
  EXPECT_EQ(both({1, 0}), 0);
  EXPECT_GT(both({0, 1}), 10);
}

// With one class and next to no alpha nobody else gets anything, so the message tells the least number: the
// smaller one of batch_size / (1 - train_ratio) and of half an equal share, rounded down, and at least 1.
TEST(DirichletPfllib, HasALeastNumberThatFollowsFromABatch) {
  struct Case {
    std::int64_t examples, clients, batch_size;
    double train_ratio;
    std::string least;
  };
  for (const Case& given :
       {Case{1000, 5, 10, 0.75, "40"}, Case{250, 5, 10, 0.75, "25"}, Case{259, 5, 10, 0.75, "25"},
        Case{1000, 5, 10, 0.5, "20"}, Case{1000, 5, 7, 0.75, "28"}, Case{8, 5, 10, 0.75, "1"}}) {
    const Labelled data = Labelled::balanced(1, given.examples);
    EXPECT_EQ(message_of([&] {
                make_partition("dirichlet-pfllib",
                               {setting("clients", given.clients),
                                setting("batch_size", given.batch_size),
                                {"train_ratio", given.train_ratio},
                                {"alpha", 1e-6}},
                               data.input(), 1);
              }),
              "no draw of 1000 left every one of 5 clients at least " + given.least +
                  " examples, at alpha = 1e-06\n  raise alpha, or lower clients or batch_size");
  }
}

TEST(DirichletFlower, GivesUpAfterTenMoreDraws) {
  const Labelled data = Labelled::balanced(1, 100);
  EXPECT_EQ(message_of([&] {
              make_partition("dirichlet-flower", {{"alpha", 1e-6}}, data.input(), 1);
            }),
            "no draw of 11 left every one of 5 clients at least 10 examples, at alpha = 1e-06\n"
            "  raise alpha, or lower clients or min_examples");
}

// Two examples of a client are of one class with probability E[sum of p^2] = (alpha + 1) / (K alpha + 1), and
// the first of any class with probability 1/K. Ten clients take 20 of 1000 examples: no class is used up.
TEST(DirichletPfl, DrawsAMixtureOfClassesForEachClient) {
  constexpr int kSeeds = 400;
  constexpr double kClasses = 5, kAlpha = 0.1;
  const Labelled data = Labelled::balanced(5, 200);
  std::vector<double> alike;
  std::vector<std::int64_t> single(5);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const auto& counts : class_counts(
             "dirichlet-pfl", {setting("clients", 10), setting("examples_per_client", 2)}, data, seed)) {
      alike.push_back(*std::max_element(counts.begin(), counts.end()) == 2);
    }
    const Counts ones =
        class_counts("dirichlet-pfl", {setting("clients", 1), setting("examples_per_client", 1)}, data, seed);
    ++single[static_cast<std::size_t>(std::max_element(ones[0].begin(), ones[0].end()) - ones[0].begin())];
  }
  const double expected = (kAlpha + 1) / (kClasses * kAlpha + 1);
  EXPECT_LT(std::abs(mean_z(alike, expected, expected * (1 - expected))), kNormalBound);
  EXPECT_TRUE(equally_likely(single));
}

TEST(DirichletPfl, TakesTheLastExamplesOfAClassFirst) {
  const Labelled data({2, 2, 2, 2, 2, 2}, 4);
  EXPECT_THAT(make_partition("dirichlet-pfl", {setting("clients", 2)}, data.input(), 1),
              ElementsAre(Indices{3, 4, 5}, Indices{0, 1, 2}));
}

// The mixture is evened out until the client finds what is left.
TEST(DirichletPfl, UsesUpEveryClassWhereItHasTo) {
  const Labelled data = Labelled::balanced(10, 20);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Partition partition =
        make_partition("dirichlet-pfl", {setting("clients", 4), {"alpha", 1e-3}}, data.input(), seed);
    std::set<std::int64_t> dealt;
    for (const auto& share : partition) {
      EXPECT_EQ(share.size(), 50U);
      dealt.insert(share.begin(), share.end());
    }
    EXPECT_EQ(dealt.size(), 200U);
  }
}

TEST(DirichletPfl, DropsWhatIsLeftOver) {
  const Labelled data = Labelled::balanced(2, 5);
  for (const auto& share : make_partition("dirichlet-pfl", {setting("clients", 3)}, data.input(), 1)) {
    EXPECT_EQ(share.size(), 3U);
  }
}

TEST(DirichletPfl, RefusesMoreThanThereIs) {
  const Labelled data = Labelled::balanced(10, 10);
  EXPECT_EQ(message_of([&] {
              make_partition("dirichlet-pfl", {setting("examples_per_client", 21)}, data.input(), 1);
            }),
            "5 clients with examples_per_client = 21 need 105 examples and the data has 100\n"
            "  lower clients or examples_per_client");
}

// These values are part of every recorded result.
TEST(DirichletVariants, GiveTheRecordedIndices) {
  const Labelled data = Labelled::balanced(10, 100);
  const auto hash = [&](const std::string& kind) {
    return index_hash(make_partition(kind, {{"alpha", 0.5}}, data.input(), 42));
  };
  EXPECT_EQ(hash("dirichlet-niid-bench"), "040d749f6cddfd94");
  EXPECT_EQ(hash("dirichlet-flower"), "a751f73108235afa");
  EXPECT_EQ(hash("dirichlet-pfllib"), "040d749f6cddfd94");
  EXPECT_EQ(hash("dirichlet-pfl"), "2aad90bb964b2774");
  EXPECT_EQ(hash("quantity"), "bd2202ad1328ba5b");
}

}  // namespace
}  // namespace fedarena
