// Closed forms: small inputs whose partition is known beforehand.
#include "partitions/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using ::testing::ElementsAre;
using Indices = std::vector<std::int64_t>;

TEST(PartitionNames, AreInTheOrderOfTheRegistry) {
  EXPECT_THAT(partition_names(), ElementsAre("iid", "quantity", "classes", "shared-classes", "shards",
                                             "dirichlet", "dirichlet-niid-bench", "dirichlet-flower",
                                             "dirichlet-pfllib", "dirichlet-pfl", "by-user"));
}

TEST(PartitionNames, EachHasFieldsAndASentence) {
  for (const std::string& kind : partition_names()) {
    EXPECT_EQ(partition_fields(kind).front().name, "clients") << kind;
    EXPECT_EQ(to_text(partition_fields(kind).front().fallback), kind == "by-user" ? "0" : "5") << kind;
    EXPECT_TRUE(partition_summary(kind).ends_with('.')) << kind;
    for (const Field& field : partition_fields(kind)) EXPECT_TRUE(field.doc.ends_with('.')) << field.name;
  }
}

TEST(Iid, CutsIntoSizesThatDifferByAtMostOne) {
  const Partition partition =
      make_partition("iid", {setting("clients", 4)}, {.labels = {}, .examples = 10, .classes = 0}, 1);
  std::vector<std::size_t> sizes;
  for (const auto& share : partition) sizes.push_back(share.size());
  EXPECT_THAT(sizes, ElementsAre(2, 3, 2, 3));
}

TEST(Iid, GivesTheOnlyClientEverything) {
  EXPECT_THAT(make_partition("iid", {setting("clients", 1)}, {.labels = {}, .examples = 3, .classes = 0}, 1),
              ElementsAre(Indices{0, 1, 2}));
}

TEST(Iid, IgnoresLabels) {
  const Labelled data = Labelled::balanced(10, 10);
  EXPECT_EQ(make_partition("iid", {}, data.input(), 1),
            make_partition("iid", {}, {.labels = {}, .examples = 100, .classes = 0}, 1));
}

TEST(Classes, TakesClassesInAscendingOrder) {
  const Labelled data({3, 2, 1, 0, 3, 2}, 4);
  EXPECT_THAT(make_partition("classes", {setting("clients", 2)}, data.input(), 1),
              ElementsAre(Indices{2, 3}, Indices{0, 1, 4, 5}));
}

TEST(Classes, TakesClassesInTheGivenOrder) {
  const Labelled data = Labelled::balanced(10, 1);  // the index of an example is its class
  const Indices order = {5, 6, 1, 2, 0, 8, 9, 3, 4, 7};
  EXPECT_THAT(make_partition("classes", {{"class_order", order}}, data.input(), 1),
              ElementsAre(Indices{5, 6}, Indices{1, 2}, Indices{0, 8}, Indices{3, 9}, Indices{4, 7}));
}

TEST(Classes, LeavesOutWhatTheOrderLeavesOut) {
  const Labelled data = Labelled::balanced(5, 1);
  EXPECT_THAT(
      make_partition(
          "classes",
          {setting("clients", 3), setting("classes_per_client", 1), {"class_order", Indices{4, 0, 2}}},
          data.input(), 1),
      ElementsAre(Indices{4}, Indices{0}, Indices{2}));
}

TEST(Classes, NeedsNoLuck) {
  const Labelled data = Labelled::balanced(10, 5);
  EXPECT_EQ(make_partition("classes", {}, data.input(), 1), make_partition("classes", {}, data.input(), 2));
}

TEST(Classes, CutsEveryClientToTheSmallestWhenAsked) {
  const Labelled data({0, 0, 0, 1, 1, 0}, 2);
  const Settings whole = {setting("clients", 2), setting("classes_per_client", 1)};
  EXPECT_THAT(make_partition("classes", whole, data.input(), 1),
              ElementsAre(Indices{0, 1, 2, 5}, Indices{3, 4}));

  Settings equal = whole;
  equal.emplace_back("equal_sizes", true);
  std::vector<std::int64_t> kept(6);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Partition partition = make_partition("classes", equal, data.input(), seed);
    ASSERT_EQ(partition[0].size(), 2U);
    EXPECT_THAT(partition[1], ElementsAre(3, 4));
    for (const std::int64_t index : partition[0]) ++kept[static_cast<std::size_t>(index)];
  }
  // Each of the four examples stays in half of the 200 seeds: 100 +- 7; beyond 35 once in 10^6.
  for (const std::size_t index : {0U, 1U, 2U, 5U})
    EXPECT_NEAR(static_cast<double>(kept[index]), 100, 35) << index;
}

TEST(Dirichlet, GivesTheOnlyClientEverything) {
  const Labelled data({1, 0, 1}, 2);
  EXPECT_THAT(
      make_partition("dirichlet", {setting("clients", 1), setting("min_examples", 1)}, data.input(), 1),
      ElementsAre(Indices{0, 1, 2}));
}

TEST(Dirichlet, BearsClassesWithoutExamples) {
  const Labelled data({7, 7, 7, 7, 7, 7}, 10);
  const Partition partition = make_partition(
      "dirichlet", {setting("clients", 2), setting("min_examples", 2), {"alpha", 10.0}}, data.input(), 1);
  EXPECT_EQ(partition[0].size() + partition[1].size(), 6U);
}

// These values are part of every recorded result. No draw behind them depends on the last bits of a
// logarithm.
TEST(Partition, GivesTheRecordedIndices) {
  const Labelled data = Labelled::balanced(2, 6);
  const Settings settings = {setting("clients", 3), setting("min_examples", 1)};
  EXPECT_THAT(make_partition("iid", {setting("clients", 3)}, data.input(), 42),
              ElementsAre(Indices{1, 2, 6, 11}, Indices{0, 3, 5, 8}, Indices{4, 7, 9, 10}));
  EXPECT_THAT(make_partition("dirichlet", settings, data.input(), 42),
              ElementsAre(Indices{3, 5, 7, 9, 11}, Indices{4}, Indices{0, 1, 2, 6, 8, 10}));
}

}  // namespace
}  // namespace fedarena
