#include "partitions/statistics.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using ::testing::ElementsAre;
using Indices = std::vector<std::int64_t>;

TEST(PartitionStatistics, CountSizesClassesAndEntropy) {
  const Labelled data({0, 1, 2, 0, 1, 0}, 4);
  const PartitionStatistics statistics = partition_statistics({{0, 1, 2, 4}, {3, 5}}, data.input());
  EXPECT_THAT(statistics.sizes, ElementsAre(4, 2));
  EXPECT_THAT(statistics.class_counts, ElementsAre(Indices{1, 2, 1, 0}, Indices{2, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(statistics.label_entropy[0], 1.5 * std::log(2));  // 1/4, 1/2, 1/4
  EXPECT_EQ(statistics.label_entropy[1], 0);
  EXPECT_FALSE(std::signbit(statistics.label_entropy[1]));
}

TEST(PartitionStatistics, EntropyOfEqualClassesIsTheirLogarithm) {
  const Labelled data = Labelled::balanced(10, 7);
  const Partition partition = make_partition("iid", {setting("clients", 1)}, data.input(), 1);
  EXPECT_NEAR(partition_statistics(partition, data.input()).label_entropy[0], std::log(10), 1e-12);
}

TEST(PartitionStatistics, LeaveClassesOutWithoutLabels) {
  const PartitionStatistics statistics = partition_statistics({{0, 1}, {2}}, {.labels = {}, .examples = 3});
  EXPECT_THAT(statistics.sizes, ElementsAre(2, 1));
  EXPECT_TRUE(statistics.class_counts.empty());
  EXPECT_TRUE(statistics.label_entropy.empty());
}

TEST(PartitionStatistics, RefuseIndicesOfOtherData) {
  const Labelled data({0, 1}, 2);
  EXPECT_THROW(partition_statistics({{0, 2}}, data.input()), Bug);
}

// Computed apart from this code, by the definition in statistics.hpp.
TEST(IndexHash, FollowsItsDefinition) {
  EXPECT_EQ(index_hash({{0, 2}, {1}}), "12a4dbb4523099c7");
  EXPECT_EQ(index_hash({{0, 1, 2}}), "25510a1c3e12d6a4");
  EXPECT_EQ(index_hash({{0}, {1}, {2}}), "829e66a0c5b1b684");
}

TEST(IndexHash, SeesBoundariesAndOrderOfClients) {
  EXPECT_NE(index_hash({{0, 1}, {2}}), index_hash({{0}, {1, 2}}));
  EXPECT_NE(index_hash({{0}, {1}}), index_hash({{1}, {0}}));
}

TEST(Describe, SaysSizesClassesAndHash) {
  const PartitionStatistics statistics = {.sizes = {11339, 12690, 12000},
                                          .class_counts = {{1, 1, 0}, {0, 1, 1}, {1, 0, 1}},
                                          .label_entropy = {},
                                          .index_hash = "1f2e3d4c5b6a7988"};
  EXPECT_EQ(describe("classes", statistics),
            "classes: 3 clients, 2 classes each, sizes 11,339-12,690, index hash 1f2e3d4c5b6a7988");
}

TEST(Describe, SaysRangesOfClassesAndEqualSizes) {
  const PartitionStatistics statistics = {
      .sizes = {7, 7}, .class_counts = {{7, 0}, {3, 4}}, .label_entropy = {}, .index_hash = "00"};
  EXPECT_EQ(describe("dirichlet", statistics),
            "dirichlet: 2 clients, 1-2 classes each, size 7 each, index hash 00");
}

TEST(Describe, KnowsTheSingular) {
  const PartitionStatistics statistics = {
      .sizes = {1234567}, .class_counts = {{5, 0}}, .label_entropy = {}, .index_hash = "00"};
  EXPECT_EQ(describe("iid", statistics), "iid: 1 client, 1 class each, size 1,234,567 each, index hash 00");
}

TEST(Describe, OmitsClassesWithoutLabels) {
  const PartitionStatistics statistics = {
      .sizes = {999, 1000}, .class_counts = {}, .label_entropy = {}, .index_hash = "00"};
  EXPECT_EQ(describe("iid", statistics), "iid: 2 clients, sizes 999-1,000, index hash 00");
}

}  // namespace
}  // namespace fedarena
