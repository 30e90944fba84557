// The distribution of dirichlet shares. Error rates: see statistical_bounds.hpp, 10^-6 a comparison.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

constexpr double kClients = 5;

// For one share: mean 1/K and variance (K-1) / (K^2 (K alpha + 1)); for two: covariance -1 / (K^2 (K alpha +
// 1)). Rounding to whole examples shifts a share by less than 1/5000, an eighth of the standard error of a
// mean. At alpha = 2 a client is empty, and the draw repeated, about once in 10^5 draws.
TEST(DirichletShares, HaveTheMomentsOfTheirConcentration) {
  constexpr int kDraws = 4'000;
  constexpr double kAlpha = 2;
  const Labelled data = Labelled::balanced(1, 5'000);
  std::vector<std::vector<double>> shares(5);
  std::vector<double> products;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const Partition partition =
        make_partition("dirichlet", {setting("min_examples", 1), {"alpha", kAlpha}}, data.input(), seed);
    for (std::size_t client = 0; client < 5; ++client) {
      shares[client].push_back(static_cast<double>(partition[client].size()) / 5'000);
    }
    products.push_back((shares[0].back() - 1 / kClients) * (shares[1].back() - 1 / kClients));
  }
  const double unit = 1 / (kClients * kClients * (kClients * kAlpha + 1));
  const double variance = (kClients - 1) * unit;
  for (const std::vector<double>& share : shares) {
    double fourth = 0;
    for (const double value : share) fourth += std::pow(value - 1 / kClients, 4) / kDraws;
    EXPECT_LT(std::abs(mean_z(share, 1 / kClients, variance)), kNormalBound);
    EXPECT_LT(std::abs(variance_z(share, 1 / kClients, variance, fourth)), kNormalBound);
  }
  double square = 0;
  for (const double product : products) square += product * product / kDraws;
  EXPECT_LT(std::abs(mean_z(products, -unit, square - unit * unit)), kNormalBound);
}

// Proportions are drawn anew for each class: the shares of two classes are uncorrelated over seeds.
TEST(DirichletShares, OfTwoClassesAreIndependent) {
  constexpr int kDraws = 4'000;
  const Labelled data = Labelled::balanced(2, 1'000);
  std::vector<double> products;
  double square = 0;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const Partition partition =
        make_partition("dirichlet", {setting("min_examples", 1), {"alpha", 2.0}}, data.input(), seed);
    const std::vector<std::int64_t> counts = partition_statistics(partition, data.input()).class_counts[2];
    products.push_back((static_cast<double>(counts[0]) / 1'000 - 1 / kClients) *
                       (static_cast<double>(counts[1]) / 1'000 - 1 / kClients));
    square += products.back() * products.back() / kDraws;
  }
  EXPECT_LT(std::abs(mean_z(products, 0, square)), kNormalBound);
}

// Which examples of a class a client gets is uniform: with a share cut anywhere, each of 6 examples is
// equally often among them. Shares cluster examples, never favour one, so the statistic is compared per
// example over seeds.
TEST(DirichletShares, FavourNoExample) {
  const Labelled data = Labelled::balanced(1, 6);
  std::vector<std::int64_t> held(6);
  for (std::uint64_t seed = 0; seed < 60'000; ++seed) {
    const Partition partition = make_partition(
        "dirichlet", {setting("clients", 2), setting("min_examples", 1), {"alpha", 1.0}}, data.input(), seed);
    ++held[static_cast<std::size_t>(partition[0][seed % partition[0].size()])];
  }
  EXPECT_TRUE(equally_likely(held));
}

TEST(DirichletShares, OfLargeAlphaAreNearlyEqual) {
  const Labelled data = Labelled::balanced(10, 600);
  const Partition partition = make_partition("dirichlet", {{"alpha", 1e9}}, data.input(), 1);
  for (const auto& counts : partition_statistics(partition, data.input()).class_counts) {
    // 120 each; proportions deviate by 10^-5, and rounding moves each end of a share by less than one.
    for (const std::int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 120, 1);
  }
}

TEST(DirichletShares, OfTinyAlphaGiveEachClassToOneClient) {
  const Labelled data = Labelled::balanced(10, 50);
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Partition partition = make_partition("dirichlet", {{"alpha", 1e-6}}, data.input(), seed);
    for (const auto& counts : partition_statistics(partition, data.input()).class_counts) {
      for (const std::int64_t count : counts) EXPECT_TRUE(count == 0 || count == 50) << count;
    }
    hashes.insert(index_hash(partition));
  }
  EXPECT_EQ(hashes.size(), 20U);
}

TEST(DirichletShares, RespectTheLeastNumberOfExamples) {
  const Labelled data = Labelled::balanced(10, 20);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Partition partition =
        make_partition("dirichlet", {setting("min_examples", 25)}, data.input(), seed);
    for (const auto& share : partition) EXPECT_GE(std::ssize(share), 25);
  }
}

// Shuffles have streams of their own, so with alpha the cuts move and the order stays: the first client's
// examples of the smaller share are among those of the larger one.
TEST(DirichletShares, KeepTheOrderOfExamplesWhenAlphaChanges) {
  const Labelled data = Labelled::balanced(1, 1'000);
  const auto first_share = [&](double alpha) {
    return make_partition("dirichlet", {setting("clients", 2), setting("min_examples", 1), {"alpha", alpha}},
                          data.input(), 5)[0];
  };
  std::vector<std::int64_t> smaller = first_share(0.5), larger = first_share(50.0);
  if (smaller.size() > larger.size()) std::swap(smaller, larger);
  EXPECT_TRUE(std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end()));
}

}  // namespace
}  // namespace fedarena
