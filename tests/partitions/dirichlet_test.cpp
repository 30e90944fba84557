// The distribution of Dirichlet shares, and what tells the published meanings of "Dirichlet" apart. Error
// rates: see statistical_bounds.hpp, 10^-6 a comparison.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "partitions/card.hpp"
#include "partitions/partition.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/partitions/labelled.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

constexpr double kClients = 5;

// Of the tests of moments.
struct Sizes {
  std::uint64_t draws = test::long_tests() ? 4'000 : 1'000;
  std::int64_t examples = test::long_tests() ? 5'000 : 2'500;

  double count() const { return static_cast<double>(draws); }
  double share(std::integral auto size) const {
    return static_cast<double>(size) / static_cast<double>(examples);
  }
};

// For one share: mean 1/K and variance (K-1) / (K^2 (K alpha + 1)); for two: covariance -1 / (K^2 (K alpha +
// 1)). Rounding to whole examples shifts a share by less than one in kExamples, a ninth of the standard error
// of a mean. At alpha = 2 a client is empty, and the draw repeated, about three times in 10^5 draws. A single
// class meets no cap. 66 comparisons. PFLlib's least number, half an equal share at most, is set to 1.
TEST(DirichletShares, HaveTheMomentsOfTheirConcentration) {
  constexpr double kAlpha = 2;
  constexpr double kUnit = 1 / (kClients * kClients * (kClients * kAlpha + 1)),
                   kVariance = (kClients - 1) * kUnit;
  const Sizes sizes;
  const Labelled data = Labelled::balanced(1, sizes.examples);
  for (const auto& [kind, least] : std::vector<std::pair<std::string, Settings>>{
           {"dirichlet", {{"min_examples", 1}}},
           {"dirichlet-niid-bench", {{"min_examples", 1}}},
           {"dirichlet-flower", {{"min_examples", 1}}},
           {"dirichlet-flower", {{"min_examples", 1}, {"self_balancing", true}}},
           {"dirichlet-pfllib", {{"batch_size", 1}, {"train_ratio", 0.0}}},
           {"quantity", {{"min_examples", 1}}}}) {
    SCOPED_TRACE(kind);
    Settings settings = least;
    settings.emplace_back("alpha", kAlpha);
    std::vector<std::vector<double>> shares(5);
    std::vector<double> products;
    double square = 0;
    for (std::uint64_t seed = 0; seed < sizes.draws; ++seed) {
      const Partition partition = make_partition(kind, settings, data, seed);
      for (std::size_t client = 0; client < 5; ++client) {
        shares[client].push_back(sizes.share(partition[client].size()));
      }
      products.push_back((shares[0].back() - 1 / kClients) * (shares[1].back() - 1 / kClients));
      square += products.back() * products.back() / sizes.count();
    }
    for (const std::vector<double>& share : shares) {
      double fourth = 0;
      for (const double value : share) fourth += std::pow(value - 1 / kClients, 4) / sizes.count();
      EXPECT_LT(std::abs(mean_z(share, 1 / kClients, kVariance)), kNormalBound);
      EXPECT_LT(std::abs(variance_z(share, 1 / kClients, kVariance, fourth)), kNormalBound);
    }
    EXPECT_LT(std::abs(mean_z(products, -kUnit, square - kUnit * kUnit)), kNormalBound);
  }
}

// Proportions are drawn anew for each class: the shares of two classes are uncorrelated over seeds.
TEST(DirichletShares, OfTwoClassesAreIndependent) {
  const Sizes sizes;
  const Labelled data = Labelled::balanced(2, sizes.examples / 5);
  std::vector<double> products;
  double square = 0;
  for (std::uint64_t seed = 0; seed < sizes.draws; ++seed) {
    const Partition partition =
        make_partition("dirichlet", {{"min_examples", 1}, {"alpha", 2.0}}, data, seed);
    const std::vector<std::int64_t> counts = partition_statistics(partition, data).class_counts[2];
    products.push_back((sizes.share(5 * counts[0]) - 1 / kClients) *
                       (sizes.share(5 * counts[1]) - 1 / kClients));
    square += products.back() * products.back() / sizes.count();
  }
  EXPECT_LT(std::abs(mean_z(products, 0, square)), kNormalBound);
}

// Which examples of a class a client gets is uniform: with a share cut anywhere, each of 6 examples is
// equally often among them. Shares cluster examples, never favour one, so the statistic is compared per
// example over seeds.
TEST(DirichletShares, FavourNoExample) {
  const Labelled data = Labelled::balanced(1, 6);
  std::vector<std::int64_t> held(6);
  for (std::uint64_t seed = 0; seed < (test::long_tests() ? 60'000 : 15'000); ++seed) {
    const Partition partition =
        make_partition("dirichlet", {{"clients", 2}, {"min_examples", 1}, {"alpha", 1.0}}, data, seed);
    ++held[static_cast<std::size_t>(partition[0][seed % partition[0].size()])];
  }
  EXPECT_TRUE(equally_likely(held));
}

TEST(DirichletShares, OfLargeAlphaAreNearlyEqual) {
  const Labelled data = Labelled::balanced(10, 600);
  const Partition partition = make_partition("dirichlet", {{"alpha", 1e9}}, data, 1);
  for (const auto& counts : partition_statistics(partition, data).class_counts) {
    // 120 each; proportions deviate by 10^-5, and rounding moves each end of a share by less than one.
    for (const std::int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 120, 1);
  }
}

TEST(DirichletShares, OfTinyAlphaGiveEachClassToOneClient) {
  const Labelled data = Labelled::balanced(10, 50);
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Partition partition = make_partition("dirichlet", {{"alpha", 1e-6}}, data, seed);
    for (const auto& counts : partition_statistics(partition, data).class_counts) {
      for (const std::int64_t count : counts) EXPECT_TRUE(count == 0 || count == 50) << count;
    }
    hashes.insert(index_hash(partition));
  }
  EXPECT_EQ(hashes.size(), 20U);
}

TEST(DirichletShares, RespectTheLeastNumberOfExamples) {
  const Labelled data = Labelled::balanced(10, 20);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Partition partition = make_partition("dirichlet", {{"min_examples", 25}}, data, seed);
    for (const auto& share : partition) EXPECT_GE(std::ssize(share), 25);
  }
}

// Shuffles have streams of their own, so with alpha the cuts move and the order stays: the first client's
// examples of the smaller share are among those of the larger one.
TEST(DirichletShares, KeepTheOrderOfExamplesWhenAlphaChanges) {
  const Labelled data = Labelled::balanced(1, 1'000);
  const auto first_share = [&](double alpha) {
    return make_partition("dirichlet", {{"clients", 2}, {"min_examples", 1}, {"alpha", alpha}}, data, 5)[0];
  };
  Indices smaller = first_share(0.5), larger = first_share(50.0);
  if (smaller.size() > larger.size()) std::swap(smaller, larger);
  EXPECT_TRUE(std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end()));
}

Settings two_clients(double alpha, bool self_balancing = false) {
  Settings settings = {{"clients", 2}, {"min_examples", 1}, {"alpha", alpha}};
  if (self_balancing) settings.emplace_back("self_balancing", true);
  return settings;
}

// At this alpha nearly every class goes to one client as a whole. Of four equal classes and two clients, the
// first who has two of them has half of all examples: NIID-Bench's cap, "fewer than an equal share", gives it
// no more.
TEST(DirichletNiidBench, GivesNothingToWhoHoldsAnEqualShare) {
  const Labelled data = Labelled::balanced(4, 10);
  for (const auto& [kind, settings] : std::vector<std::pair<std::string, Settings>>{
           {"dirichlet-niid-bench", two_clients(1e-5)},
           {"dirichlet-pfllib", {{"clients", 2}, {"batch_size", 1}, {"alpha", 1e-5}}}}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      for (const auto& share : make_partition(kind, settings, data, seed)) EXPECT_EQ(share.size(), 20U);
    }
  }
}

// Flower's, "no more than an equal share", lets it have a third one, and never a fourth; without
// self-balancing there is no cap.
TEST(DirichletFlower, GivesNothingToWhoHoldsMoreThanAnEqualShare) {
  const Labelled data = Labelled::balanced(4, 10);
  const auto largest = [&](bool self_balancing) {
    std::size_t size = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      for (const auto& share :
           make_partition("dirichlet-flower", two_clients(0.002, self_balancing), data, seed)) {
        size = std::max(size, share.size());
      }
    }
    return size;
  };
  EXPECT_EQ(largest(true), 30U);
  EXPECT_GT(largest(false), 30U);
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
  const Partition partition = make_partition("dirichlet-flower", {{"clients", 3}, {"alpha", 5.0}}, data, 2);
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
  const auto both = [&](std::vector<std::int64_t> labels) {
    for (int i = 0; i < 20; ++i) labels.push_back(1);
    for (int i = 0; i < 9; ++i) labels.push_back(0);
    for (int i = 0; i < 9; ++i) labels.push_back(2);
    const Labelled data(labels, 3);
    int clients = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      for (const auto& counts : class_counts("dirichlet-flower", two_clients(0.002, true), data, seed)) {
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
  struct Given {
    std::int64_t examples, clients, batch_size;
    double train_ratio;
    std::string least;
  };
  for (const Given& given :
       {Given{500, 5, 10, 0.75, "40"}, Given{250, 5, 10, 0.75, "25"}, Given{259, 5, 10, 0.75, "25"},
        Given{500, 5, 10, 0.5, "20"}, Given{500, 5, 7, 0.75, "28"}, Given{8, 5, 10, 0.75, "1"}}) {
    const Labelled data = Labelled::balanced(1, given.examples);
    EXPECT_EQ(refusal("dirichlet-pfllib",
                      {{"clients", given.clients},
                       {"batch_size", given.batch_size},
                       {"train_ratio", given.train_ratio},
                       {"alpha", 1e-6}},
                      data),
              "no draw of 1000 left every one of 5 clients at least " + given.least +
                  " examples, at alpha = 1e-06\n  raise alpha, or lower clients or batch_size");
  }
}

}  // namespace
}  // namespace fedarena
