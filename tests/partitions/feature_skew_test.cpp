// How inputs differ from client to client, as settings of every partition.
#include "partitions/feature_skew.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "partitions/partition.hpp"
#include "tests/message_of.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using test::message_of;
using Indices = std::vector<std::int64_t>;

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
  const FeatureSkew skew = feature_skew("iid", {{"rotations", Indices{0, 90, 270}}});
  EXPECT_TRUE(skew.any());
  for (std::int64_t client = 0; client < 7; ++client) {
    EXPECT_EQ(skew.of(client, 7).degrees, (std::vector<std::int64_t>{0, 90, 270})[client % 3]);
    EXPECT_EQ(skew.of(client, 7).noise, 0);
  }
}

TEST(FeatureSkew, ChangesNoIndex) {
  const Labelled data = Labelled::balanced(10, 60);
  for (const std::string kind : {"iid", "classes", "dirichlet", "shards"}) {
    EXPECT_EQ(make_partition(kind, {{"noise", 0.5}, {"rotations", Indices{90}}}, data.input(), 3),
              make_partition(kind, {}, data.input(), 3));
  }
}

TEST(FeatureSkew, OutOfRangeIsRefused) {
  for (const std::string& kind : partition_names()) {
    const auto refusal = [&](const Settings& settings) {
      return message_of([&] { check_partition_settings(kind, settings); });
    };
    EXPECT_EQ(refusal({{"noise", -0.1}}), "noise is -0.1; allowed: a number >= 0") << kind;
    EXPECT_EQ(refusal({{"rotations", Indices{0, 45}}}),
              "rotations lists 45 degrees; allowed: multiples of 90; did you mean \"90\"?")
        << kind;
    EXPECT_EQ(refusal({{"rotations", Indices{360}}}),
              "rotations is [360]; allowed: a list of integers from 0 to 270")
        << kind;
  }
}

TEST(FeatureSkew, ThatTheDataCannotShowIsRefused) {
  const FeatureSkew noise = {.noise = 0.1}, turned = {.rotations = {0, 90}};
  EXPECT_EQ(message_of([&] {
              check_feature_skew(noise, {1, 28, 28}, 1);
            }),
            "noise is 0.1 and there is one client, the first, which has none\n"
            "  raise clients, or set noise to 0");
  EXPECT_EQ(
      message_of([&] {
        check_feature_skew(turned, {1, 28, 20}, 4);
      }),
      "rotations turn square images, but inputs are of shape [1, 28, 20]; allowed: [channels, height, width] "
      "with equal height and width\n  leave rotations out, or choose another data set");
  EXPECT_NE(message_of([&] { check_feature_skew(turned, {54}, 4); }).find("of shape [54]"),
            std::string::npos);
  check_feature_skew(noise, {54}, 2);
  check_feature_skew(turned, {3, 32, 32}, 1);
  check_feature_skew({.rotations = {0}}, {54}, 1);
}

}  // namespace
}  // namespace fedarena
