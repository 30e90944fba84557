// Settings of every kind of partition: the share of its examples that each client keeps, and how inputs
// differ from client to client.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitions/feature_skew.hpp"
#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"
#include "tests/message_of.hpp"
#include "tests/partitions/labelled.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

using test::message_of;
using testing::HasSubstr;

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

TEST(TrainFraction, OfOneChangesNothing) {
  for (const FractionSample& sample : kFractionSamples)
    EXPECT_EQ(sample.taking(1), sample.whole()) << sample.kind;
}

TEST(TrainFraction, KeepsTheNearestNumberOfTheExamplesOfEachClient) {
  for (const FractionSample& sample : kFractionSamples) {
    const Partition whole = sample.whole();
    for (const double fraction : {0.05, 0.1, 0.5, 0.999}) {
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
    EXPECT_EQ(refused({{"noise", -0.1}}), "noise is -0.1; allowed: a number >= 0") << kind;
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
