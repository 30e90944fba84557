// Shards, shared classes, mixtures of classes and skewed sizes. Error rates: see statistical_bounds.hpp,
// 10^-6 a comparison.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "partitions/card.hpp"
#include "partitions/partition.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/matchers.hpp"
#include "tests/partitions/labelled.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

using testing::UnorderedElementsAre;

std::int64_t classes_in(const std::vector<std::int64_t>& counts) {
  return std::ssize(counts) - std::count(counts.begin(), counts.end(), 0);
}

Settings shards(std::int64_t clients, std::int64_t each) {
  return {{"clients", clients}, {"shards_per_client", each}};
}

Settings shared(std::int64_t clients, std::int64_t each) {
  return {{"clients", clients}, {"classes_per_client", each}};
}

TEST(Shards, AreCutFromTheExamplesSortedByLabel) {
  const Labelled data({1, 0, 1, 0, 2, 2, 0}, 3);  // sorted: 1 3 6 | 0 2 | 4 5
  EXPECT_THAT(make_partition("shards", shards(3, 1), data, 1),
              UnorderedElementsAre(Indices{1, 3}, Indices{0, 6}, Indices{2, 4, 5}));
}

// McMahan et al. 2017: 100 clients with 2 of 200 shards each of 60,000 digits. A shard lies in one class, so
// nobody has more than two.
TEST(Shards, AreThoseOfThePaper) {
  const Labelled data = Labelled::balanced(10, 6000);
  for (const auto& counts : class_counts("shards", shards(100, 2), data, 3)) {
    for (const std::int64_t count : counts) EXPECT_EQ(count % 300, 0);
    EXPECT_LE(classes_in(counts), 2);
  }
}

// Of 10 classes of 20 shards, a client's second shard is of the class of the first with probability 19/199.
TEST(Shards, AreDealtAtRandom) {
  constexpr double kAlike = 19.0 / 199;
  const Labelled data = Labelled::balanced(10, 20);
  std::vector<double> alike;
  std::vector<std::int64_t> held(200);
  for (std::uint64_t seed = 0; seed < (test::long_tests() ? 10'000 : 2'500); ++seed) {
    const Partition partition = make_partition("shards", shards(100, 2), data, seed);
    alike.push_back(partition[7][0] % 10 == partition[7][1] % 10);
    ++held[static_cast<std::size_t>(partition[93][seed % 2])];
  }
  EXPECT_LT(std::abs(mean_z(alike, kAlike, kAlike * (1 - kAlike))), kNormalBound);
  // A share is sorted, so its first and its second are looked at in turn.
  EXPECT_TRUE(equally_likely(held));
}

TEST(SharedClasses, AreTheOwnOneAndOthersAtRandom) {
  const Labelled data = Labelled::balanced(10, 30);
  std::vector<std::int64_t> others(9);
  for (std::uint64_t seed = 0; seed < (test::long_tests() ? 3'000 : 500); ++seed) {
    const Counts counts = class_counts("shared-classes", shared(13, 3), data, seed);
    for (std::size_t client = 0; client < 13; ++client) {
      EXPECT_EQ(classes_in(counts[client]), 3);
      EXPECT_GT(counts[client][client % 10], 0) << "client " << client;
    }
    // One of the two others of client 12, whose own class is 2.
    std::vector<std::size_t> held;
    for (std::size_t label = 0; label < 10; ++label) {
      if (label != 2 && counts[12][label] > 0) held.push_back(label < 2 ? label : label - 1);
    }
    ++others[held[seed % 2]];
  }
  EXPECT_TRUE(equally_likely(others));
}

TEST(SharedClasses, AreCutEvenlyAmongTheirHolders) {
  Stream stream({.seed = 5});
  const Labelled data = Labelled::random(7, 500, stream);
  const Counts whole = class_counts("iid", {{"clients", 1}}, data, 1);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Counts counts = class_counts("shared-classes", shared(9, 3), data, seed);
    for (std::size_t label = 0; label < 7; ++label) {
      std::vector<std::int64_t> parts;
      for (const auto& client : counts) {
        if (client[label] > 0) parts.push_back(client[label]);
      }
      EXPECT_TRUE(std::is_sorted(parts.rbegin(), parts.rend())) << "the first get what does not divide";
      EXPECT_LE(parts.front() - parts.back(), 1);
      EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), whole[0][label]);
    }
  }
}

TEST(SharedClasses, OfAllAreSharedByAll) {
  const Labelled data({0, 0, 1, 0, 1, 0, 0}, 2);
  EXPECT_THAT(class_counts("shared-classes", shared(2, 2), data, 1),
              ElementsAre(Indices{3, 1}, Indices{2, 1}));
}

// Five clients of two classes cover ten only where the five others are all different, once in 9^5 / 5! = 492
// choices.
TEST(SharedClasses, LeaveNoClassWithoutAHolder) {
  const Labelled data = Labelled::balanced(10, 4);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Counts counts = class_counts("shared-classes", {}, data, seed);
    for (std::size_t label = 0; label < 10; ++label) {
      EXPECT_EQ(
          std::count_if(counts.begin(), counts.end(), [&](const auto& held) { return held[label] == 4; }), 1);
    }
  }
}

TEST(SharedClasses, AreThoseThatHaveExamples) {
  const Labelled data({7, 7, 3, 3, 7, 3}, 10);
  for (const auto& counts : class_counts("shared-classes", shared(2, 1), data, 1)) {
    EXPECT_TRUE(counts[3] == 3 || counts[7] == 3);
  }
}

TEST(SharedClasses, ThatNoChoiceGivesAreRefused) {
  const Labelled data = Labelled::balanced(10, 2);
  EXPECT_EQ(
      refusal("shared-classes", shared(20, 2), data),
      "no choice of 10000 gave each of 10 classes a holder among 20 clients, and each holder an example\n"
      "  use 10 clients or more, so that every class has a holder, but fewer than classes have examples; or "
      "change classes_per_client");
}

TEST(Quantity, SkewsSizesAndNotLabels) {
  const Labelled data = Labelled::balanced(2, 50'000);
  const PartitionStatistics statistics =
      partition_statistics(make_partition("quantity", {{"clients", 4}, {"alpha", 0.5}}, data, 3), data);
  EXPECT_GT(*std::max_element(statistics.sizes.begin(), statistics.sizes.end()),
            2 * *std::min_element(statistics.sizes.begin(), statistics.sizes.end()));
  for (std::size_t client = 0; client < 4; ++client) {
    // Hypergeometric: the variance of a count of n of N examples, half of them of the class, is below n / 4.
    const auto size = static_cast<double>(statistics.sizes[client]);
    EXPECT_LT(std::abs(static_cast<double>(statistics.class_counts[client][0]) - size / 2),
              kNormalBound * std::sqrt(size / 4));
  }
}

TEST(Quantity, NeedsNoLabels) {
  const Partition partition = make_partition("quantity", {{"min_examples", 3}}, unlabelled(50), 1);
  Indices all;
  for (const auto& share : partition) {
    EXPECT_GE(share.size(), 3U);
    all.insert(all.end(), share.begin(), share.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 50U);
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
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
    for (const auto& counts :
         class_counts("dirichlet-pfl", {{"clients", 10}, {"examples_per_client", 2}}, data, seed)) {
      alike.push_back(*std::max_element(counts.begin(), counts.end()) == 2);
    }
    const Counts ones =
        class_counts("dirichlet-pfl", {{"clients", 1}, {"examples_per_client", 1}}, data, seed);
    ++single[static_cast<std::size_t>(std::max_element(ones[0].begin(), ones[0].end()) - ones[0].begin())];
  }
  const double expected = (kAlpha + 1) / (kClasses * kAlpha + 1);
  EXPECT_LT(std::abs(mean_z(alike, expected, expected * (1 - expected))), kNormalBound);
  EXPECT_TRUE(equally_likely(single));
}

TEST(DirichletPfl, TakesTheLastExamplesOfAClassFirst) {
  const Labelled data({2, 2, 2, 2, 2, 2}, 4);
  EXPECT_THAT(make_partition("dirichlet-pfl", {{"clients", 2}}, data, 1),
              ElementsAre(Indices{3, 4, 5}, Indices{0, 1, 2}));
}

// The mixture is evened out until the client finds what is left.
TEST(DirichletPfl, UsesUpEveryClassWhereItHasTo) {
  const Labelled data = Labelled::balanced(10, 20);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Partition partition =
        make_partition("dirichlet-pfl", {{"clients", 4}, {"alpha", 1e-3}}, data, seed);
    std::set<std::int64_t> dealt;
    for (const auto& share : partition) {
      EXPECT_EQ(share.size(), 50U);
      dealt.insert(share.begin(), share.end());
    }
    EXPECT_EQ(dealt.size(), 200U);
  }
}

// Twenty examples of a client's one class do not make the fifty that it takes.
TEST(DirichletPfl, SaysHowManyMixturesWereEvenedOut) {
  const Labelled data = Labelled::balanced(10, 20);
  const Settings skewed = {{"clients", 4}, {"alpha", 1e-3}};
  const std::string note = partition_note("dirichlet-pfl", skewed, data, 1);
  EXPECT_EQ(note,
            "4 of 4 clients found too few examples of their classes, so that their mixtures were evened out");
  const Partition partition = make_partition("dirichlet-pfl", skewed, data, 1);
  EXPECT_TRUE(
      describe(partition_card("dirichlet-pfl", skewed, 1, partition, data)).ends_with("seed=1); " + note));
  EXPECT_EQ(partition_note("dirichlet-pfl", {{"alpha", 1e3}, {"examples_per_client", 2}}, data, 1), "");
}

TEST(DirichletPfl, DropsWhatIsLeftOver) {
  const Labelled data = Labelled::balanced(2, 5);
  for (const auto& share : make_partition("dirichlet-pfl", {{"clients", 3}}, data, 1)) {
    EXPECT_EQ(share.size(), 3U);
  }
}

}  // namespace
}  // namespace fedarena
