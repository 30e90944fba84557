// Settings of every kind of partition: the share of its examples that each client keeps, and how inputs
// differ from client to client.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "partitions/card.hpp"
#include "partitions/feature_skew.hpp"
#include "partitions/partition.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/matchers.hpp"
#include "tests/partitions/labelled.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

PartitionInput input_of(const Indices& users) {
  return {.labels = {}, .examples = std::ssize(users), .classes = 0, .users = users};
}

// User 3 has no example.
const Indices kUsers = {2, 0, 2, 1, 2, 0, 4};

TEST(ByUser, MakesEveryUserWithEnoughExamplesAClient) {
  EXPECT_THAT(make_partition("by-user", {}, input_of(kUsers), 1),
              ElementsAre(Indices{1, 5}, Indices{3}, Indices{0, 2, 4}, Indices{6}));
  EXPECT_THAT(make_partition("by-user", {{"min_examples", 2}}, input_of(kUsers), 1),
              ElementsAre(Indices{1, 5}, Indices{0, 2, 4}));
  EXPECT_THAT(make_partition("by-user", {{"train_fraction", 0.5}}, input_of(kUsers), 1),
              ElementsAre(SizeIs(1), Indices{3}, SizeIs(2), Indices{6}));
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

TEST(ByUser, RefusesWhatCannotBe) {
  const auto refused = [](const Settings& settings, const PartitionInput& input) {
    return refusal("by-user", settings, input);
  };
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

// A partition of uneven data, of which a share is taken.
struct FractionSample {
  std::string kind;
  Settings settings;

  Partition taking(double fraction) const {
    static const Labelled uneven = [] {
      Stream stream({.seed = 9});
      return Labelled::random(10, 1003, stream);
    }();
    Settings all = settings;
    if (fraction != 0) all.emplace_back("train_fraction", fraction);
    return make_partition(kind, all, uneven, 3);
  }
  Partition whole() const { return taking(0); }
};

const FractionSample kFractionSamples[] = {
    {"iid", {{"clients", 4}}},
    {"classes", {{"clients", 5}}},
    {"classes", {{"clients", 2}, {"classes_per_client", 5}, {"equal_sizes", true}}},
    {"dirichlet", {{"clients", 3}, {"alpha", 0.5}}}};

TEST(TrainFraction, KeepsTheNearestNumberOfTheExamplesOfEachClient) {
  for (const FractionSample& sample : kFractionSamples) {
    const Partition whole = sample.whole();
    for (const double fraction : {0.05, 0.1, 0.5, 0.999, 1.0}) {
      const Partition part = sample.taking(fraction);
      ASSERT_EQ(part.size(), whole.size());
      for (std::size_t client = 0; client < whole.size(); ++client) {
        SCOPED_TRACE(testing::Message() << sample.kind << ", " << fraction << ", client " << client);
        EXPECT_EQ(std::ssize(part[client]),
                  std::llround(fraction * static_cast<double>(whole[client].size())));
        EXPECT_TRUE(std::ranges::is_sorted(part[client]));
        EXPECT_TRUE(std::ranges::includes(whole[client], part[client]));
        EXPECT_EQ(std::ranges::adjacent_find(part[client]), part[client].end());
      }
    }
  }
}

TEST(TrainFraction, LeavesEveryClientAnExample) {
  const Labelled data = Labelled::balanced(2, 3);
  for (const auto& share : make_partition("iid", {{"clients", 3}, {"train_fraction", 1e-6}}, data, 1)) {
    EXPECT_EQ(share.size(), 1U);
  }
}

TEST(TrainFraction, OfLessLiesWithinThatOfMore) {
  for (const FractionSample& sample : kFractionSamples) {
    Partition less = sample.taking(0.05);
    for (const double fraction : {0.1, 0.5, 1.0}) {
      const Partition more = sample.taking(fraction);
      for (std::size_t client = 0; client < less.size(); ++client) {
        EXPECT_TRUE(std::ranges::includes(more[client], less[client]))
            << sample.kind << ", " << fraction << ", client " << client;
      }
      less = more;
    }
  }
}

// Each of a client's 8 examples is among its 2 with probability 1/4. Clients draw for themselves: they keep
// the same of the 28 pairs of places once in 28 seeds. Five standard deviations of a count, 10^-6, are
// allowed.
TEST(TrainFraction, KeepsEveryExampleEquallyOften) {
  const int seeds = test::long_tests() ? 20'000 : 5'000;
  const Labelled data = Labelled::balanced(2, 8);
  std::vector<int> kept(16);
  int alike = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Partition partition =
        make_partition("classes", {{"clients", 2}, {"classes_per_client", 1}, {"train_fraction", 0.25}}, data,
                       static_cast<std::uint64_t>(seed));
    alike += partition[0][0] / 2 == partition[1][0] / 2 && partition[0][1] / 2 == partition[1][1] / 2;
    for (const auto& share : partition) {
      for (const std::int64_t index : share) ++kept[static_cast<std::size_t>(index)];
    }
  }
  const auto expect_probability = [&](int count, double p) {
    EXPECT_NEAR(count, seeds * p, 5 * std::sqrt(seeds * p * (1 - p)));
  };
  for (const int count : kept) expect_probability(count, 1.0 / 4);
  expect_probability(alike, 1.0 / 28);
}

TEST(TrainFraction, IsWhatStatisticsCount) {
  const Labelled data = Labelled::balanced(10, 100);
  const Partition partition = make_partition("classes", {{"train_fraction", 0.05}}, data, 1);
  EXPECT_THAT(
      describe("classes", partition_statistics(partition, data)),
      HasSubstr(
          "classes: 5 clients, 2 classes each, size 10 each, label entropy 0.50-0.69 nats, index hash "));
  // Published experiments refer to these indices.
  EXPECT_EQ(index_hash(partition), "d6d10095aa31d008");
}

TEST(TrainFraction, OutOfRangeIsRefused) {
  for (const double fraction : {0.0, -0.5, 1.5}) {
    EXPECT_THAT(refusal("iid", {{"train_fraction", fraction}}, unlabelled(20)),
                HasSubstr("allowed: a number from 1e-06 to 1"));
  }
}

TEST(FeatureSkew, IsOffByDefaultInEveryKind) {
  for (const std::string& kind : partition_names()) {
    const FeatureSkew skew = feature_skew(kind, {});
    EXPECT_FALSE(skew.any()) << kind;
    EXPECT_EQ(skew.of(0, 1), ClientFeatures{}) << kind;
  }
  EXPECT_FALSE(feature_skew("iid", {{"rotations", Indices{0, 0}}}).any());
}

// NIID-Bench: of ten parties and noise 0.1, the first has none and the last all of it.
TEST(FeatureSkew, RaisesNoiseFromClientToClient) {
  const FeatureSkew skew = feature_skew("iid", {{"noise", 0.1}});
  EXPECT_TRUE(skew.any());
  for (std::int64_t client = 0; client < 10; ++client) {
    EXPECT_DOUBLE_EQ(skew.of(client, 10).noise, 0.1 * static_cast<double>(client) / 9);
    EXPECT_EQ(skew.of(client, 10).degrees, 0);
  }
}

TEST(FeatureSkew, TurnsClientsInRotation) {
  const std::vector<std::int64_t> rotations = {0, 90, 270};
  const FeatureSkew skew = feature_skew("iid", {{"rotations", rotations}});
  EXPECT_TRUE(skew.any());
  for (std::int64_t client = 0; client < 7; ++client) {
    EXPECT_EQ(skew.of(client, 7).degrees, rotations[static_cast<std::size_t>(client % 3)]);
    EXPECT_EQ(skew.of(client, 7).noise, 0);
  }
}

TEST(FeatureSkew, ChangesNoIndex) {
  const Labelled data = Labelled::balanced(10, 60);
  for (const std::string kind : {"iid", "classes", "dirichlet", "shards"}) {
    EXPECT_EQ(make_partition(kind, {{"noise", 0.5}, {"rotations", Indices{90}}}, data, 3),
              make_partition(kind, {}, data, 3));
  }
}

TEST(FeatureSkew, OutOfRangeIsRefused) {
  for (const std::string& kind : partition_names()) {
    const auto refused = [&](const Settings& settings) {
      return message_of([&] { check_partition_settings(kind, settings); });
    };
    EXPECT_EQ(refused({{"noise", -0.1}}), "noise is -0.1; allowed: a number from 0 to 1000") << kind;
    EXPECT_EQ(refused({{"rotations", Indices{0, 45}}}),
              "rotations lists 45 degrees; allowed: multiples of 90; did you mean \"90\"?")
        << kind;
    EXPECT_EQ(refused({{"rotations", Indices{360}}}),
              "rotations is [360]; allowed: a list of integers from 0 to 270")
        << kind;
  }
}

TEST(FeatureSkew, ThatTheDataCannotShowIsRefused) {
  const FeatureSkew noise = {.noise = 0.1}, turned = {.rotations = {0, 90}};
  const auto refused = [](const FeatureSkew& skew, const std::vector<std::int64_t>& shape,
                          std::int64_t clients) {
    return message_of([&] { check_feature_skew(skew, shape, clients); });
  };
  EXPECT_EQ(
      refused(noise, {1, 28, 28}, 1),
      "noise is 0.1 and there is one client, the first, which has none\n  raise clients, or set noise to 0");
  EXPECT_EQ(
      refused(turned, {1, 28, 20}, 4),
      "rotations turn square images, but inputs are of shape [1, 28, 20]; allowed: [channels, height, width] "
      "with equal height and width\n  leave rotations out, or choose another data set");
  EXPECT_THAT(refused(turned, {54}, 4), HasSubstr("of shape [54]"));
  check_feature_skew(noise, {54}, 2);
  check_feature_skew(turned, {3, 32, 32}, 1);
  check_feature_skew({.rotations = {0}}, {54}, 1);
}

}  // namespace
}  // namespace fedarena
