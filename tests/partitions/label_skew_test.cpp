// Shards, shared classes, skewed sizes and one client a user. Error rates: see statistical_bounds.hpp, 10^-6
// a comparison.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/partitions/labelled.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

using testing::ElementsAre;
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

TEST(Shards, OfMoreThanThereAreExamplesAreRefused) {
  const Labelled data = Labelled::balanced(10, 10);
  EXPECT_EQ(refusal("shards", shards(50, 3), data),
            "50 clients with shards_per_client = 3 need 150 shards and the data has 100 examples\n"
            "  lower clients or shards_per_client");
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

TEST(SharedClasses, ThatCannotBeAreRefused) {
  const Labelled data = Labelled::balanced(10, 2);
  EXPECT_EQ(refusal("shared-classes", shared(5, 11), data),
            "classes_per_client is 11 and the data has examples of 10 classes\n  lower classes_per_client");
  EXPECT_EQ(
      refusal("shared-classes", shared(3, 3), data),
      "3 clients with classes_per_client = 3 hold at most 9 of the 10 classes and leave the others out\n"
      "  raise clients or classes_per_client, or use partition \"classes\" with class_order");
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

TEST(Quantity, ThatCannotBeIsRefused) {
  const Labelled data = Labelled::balanced(10, 10);
  EXPECT_EQ(refusal("quantity", {{"min_examples", 21}}, data),
            "5 clients with min_examples = 21 need 105 examples and the data has 100\n  lower clients or "
            "min_examples");
  EXPECT_EQ(refusal("quantity", {{"alpha", 1e-6}}, data),
            "no draw of 1000 left every one of 5 clients at least 10 examples, at alpha = 1e-06\n"
            "  raise alpha, or lower clients or min_examples");
}

// These values are part of every recorded result.
TEST(LabelSkew, GivesTheRecordedIndices) {
  const Labelled data = Labelled::balanced(10, 100);
  EXPECT_EQ(index_hash(make_partition("shards", {}, data, 42)), "96b1197c7aca9240");
  EXPECT_EQ(index_hash(make_partition("shared-classes", shared(10, 2), data, 42)), "c1fdeab66b64daff");
}

PartitionInput input_of(const Indices& users) {
  return {.labels = {}, .examples = std::ssize(users), .classes = 0, .users = users};
}

// User 3 has no example.
const Indices kUsers = {2, 0, 2, 1, 2, 0, 4};

TEST(ByUser, MakesEveryUserAClient) {
  EXPECT_THAT(make_partition("by-user", {}, input_of(kUsers), 1),
              ElementsAre(Indices{1, 5}, Indices{3}, Indices{0, 2, 4}, Indices{6}));
}

TEST(ByUser, LeavesOutUsersWithTooFewExamples) {
  EXPECT_THAT(make_partition("by-user", {{"min_examples", 2}}, input_of(kUsers), 1),
              ElementsAre(Indices{1, 5}, Indices{0, 2, 4}));
}

// Two of the three users with examples enough: each pair in a third of the seeds.
TEST(ByUser, DrawsUsersUniformlyAndKeepsTheirOrder) {
  const std::vector<std::int64_t> users = {0, 1, 2, 3, 0, 2, 3};
  std::vector<std::int64_t> drawn(3);
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const Partition partition =
        make_partition("by-user", {{"clients", 2}, {"min_examples", 2}}, input_of(users), seed);
    ASSERT_EQ(partition.size(), 2U);
    EXPECT_LT(partition[0].front(), partition[1].front());
    const bool first = partition[0] == Indices{0, 4}, last = partition[1] == Indices{3, 6};
    ++drawn[first && last ? 0 : first ? 1 : 2];
  }
  EXPECT_TRUE(equally_likely(drawn));
}

TEST(ByUser, KeepsItsPromisesOnRandomUsers) {
  Stream stream({.seed = 6});
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<std::int64_t> users;
    for (int i = 0; i < 300; ++i) users.push_back(static_cast<std::int64_t>(stream.below(40)));
    std::vector<std::int64_t> held(40);
    for (const std::int64_t user : users) ++held[static_cast<std::size_t>(user)];
    const auto least = static_cast<std::int64_t>(1 + stream.below(8));
    const auto eligible = std::count_if(held.begin(), held.end(), [&](auto count) { return count >= least; });
    if (eligible == 0) continue;
    const auto clients = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(eligible) + 1));
    const Settings settings = {{"clients", clients}, {"min_examples", least}};
    const std::uint64_t seed = stream();
    const Partition partition = make_partition("by-user", settings, input_of(users), seed);
    EXPECT_EQ(std::ssize(partition), clients == 0 ? eligible : clients);
    EXPECT_EQ(partition, make_partition("by-user", settings, input_of(users), seed));
    std::set<std::int64_t> seen;
    for (const auto& share : partition) {
      const std::int64_t user = users[static_cast<std::size_t>(share.front())];
      EXPECT_TRUE(seen.insert(user).second);
      EXPECT_EQ(std::ssize(share), held[static_cast<std::size_t>(user)]);
      for (const std::int64_t index : share) EXPECT_EQ(users[static_cast<std::size_t>(index)], user);
    }
  }
}

TEST(ByUser, KeepsAShareOfEachUser) {
  const Partition part = make_partition("by-user", {{"train_fraction", 0.5}}, input_of(kUsers), 1);
  EXPECT_THAT(part, ElementsAre(testing::SizeIs(1), Indices{3}, testing::SizeIs(2), Indices{6}));
}

TEST(ByUser, RefusesWhatCannotBe) {
  const auto refused = [](const Settings& settings, const PartitionInput& input) {
    return refusal("by-user", settings, input);
  };
  EXPECT_EQ(refused({}, unlabelled(7)),
            "partition \"by-user\" deals by user, and this data set does not say whose its examples are\n"
            "  use another partition, or a data set with users");
  EXPECT_EQ(refused({{"clients", 5}}, input_of(kUsers)),
            "clients is 5 and the data has 4 users with at least 1 example\n"
            "  lower clients or min_examples; clients = 0 takes all users");
  EXPECT_EQ(refused({{"clients", 2}, {"min_examples", 3}}, input_of(kUsers)),
            "clients is 2 and the data has 1 user with at least 3 examples\n"
            "  lower clients or min_examples; clients = 0 takes all users");
  EXPECT_EQ(refused({{"min_examples", 4}}, input_of(kUsers)),
            "no user of the data has at least 4 examples\n  lower min_examples");
  EXPECT_EQ(refused({{"clients", -1}}, input_of(kUsers)),
            "clients is -1; allowed: an integer from 0 to 1000000");
}

}  // namespace
}  // namespace fedarena
