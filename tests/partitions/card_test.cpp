// A partition's name, its card and its preview.
#include "partitions/card.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "partitions/preview.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using testing::HasSubstr;
using Indices = std::vector<std::int64_t>;

TEST(PartitionId, HoldsEverySettingInOneOrder) {
  EXPECT_EQ(partition_id("iid", {}, 7), "iid(clients=5,train_fraction=1.0,noise=0.0,rotations=[],seed=7)");
  const std::string id = partition_id(
      "dirichlet", {setting("min_examples", 1), {"rotations", Indices{0, 90}}, {"alpha", 0.1}}, 1);
  EXPECT_EQ(
      id,
      "dirichlet(clients=5,train_fraction=1.0,noise=0.0,rotations=[0,90],alpha=0.1,min_examples=1,seed=1)");
  EXPECT_EQ(partition_id("dirichlet",
                         {{"alpha", 0.1}, {"rotations", Indices{0, 90}}, setting("min_examples", 1)}, 1),
            id);
}

TEST(PartitionId, OfEveryKindIsOneWordOfItsOwn) {
  std::set<std::string> ids;
  for (const std::string& kind : partition_names()) {
    const std::string id = partition_id(kind, {}, 1);
    EXPECT_EQ(id.find(' '), std::string::npos) << id;
    for (const Field& field : partition_fields(kind)) EXPECT_THAT(id, HasSubstr(field.name + "="));
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), partition_names().size());
  EXPECT_THROW(partition_id("iid", {{"alpha", 0.5}}, 1), Error);
  EXPECT_THROW(partition_id("idd", {}, 1), Error);
}

TEST(PartitionCard, DescribesStatisticsAndId) {
  const Labelled data({0, 0, 1, 1}, 2);
  const Settings settings = {setting("clients", 2), setting("classes_per_client", 1)};
  const Partition partition = make_partition("classes", settings, data.input(), 3);
  const PartitionCard card = partition_card("classes", settings, 3, partition, data.input());
  EXPECT_EQ(card.statistics.index_hash, index_hash(partition));
  EXPECT_EQ(describe(card),
            "classes: 2 clients, 1 class each, size 2 each, label entropy 0.00 nats, index hash " +
                index_hash(partition) +
                ", id classes(clients=2,train_fraction=1.0,noise=0.0,rotations=[],classes_per_client=1,"
                "class_order=[],equal_sizes=false,seed=3)");
}

TEST(Preview, ShowsSizesEntropiesHeatAndCounts) {
  const PartitionStatistics statistics = {.sizes = {1200, 8},
                                          .class_counts = {{1000, 200, 0}, {0, 0, 8}},
                                          .label_entropy = {0.4506, 0},
                                          .index_hash = "00"};
  EXPECT_EQ(preview(statistics),
            "client  examples  entropy               0    1  2\n"
            "     0      1200     0.45  |██░░··|  1000  200  0\n"
            "     1         8     0.00  |····░░|     0    0  8\n"
            "heat, a class after the other: · no example, ░ to 250, ▒ to 500, ▓ to 750, █ to 1000\n");
}

// The ranges of heat are (0, m/4], (m/4, m/2], (m/2, 3m/4] and (3m/4, m].
TEST(Preview, CutsHeatIntoFourEqualRanges) {
  const PartitionStatistics statistics = {.sizes = {36},
                                          .class_counts = {{0, 1, 2, 3, 4, 5, 6, 7, 8}},
                                          .label_entropy = {2.0},
                                          .index_hash = "00"};
  EXPECT_THAT(preview(statistics), HasSubstr("|··░░░░▒▒▒▒▓▓▓▓████|"));
}

TEST(Preview, OfManyClassesIsHeatAlone) {
  const PartitionStatistics statistics = {.sizes = {62},
                                          .class_counts = {std::vector<std::int64_t>(62, 1)},
                                          .label_entropy = {4.1271},
                                          .index_hash = "00"};
  std::string heat;
  for (int i = 0; i < 62; ++i) heat += "█";
  EXPECT_THAT(preview(statistics), HasSubstr("     0        62     4.13  |" + heat + "|\nheat"));
}

TEST(Preview, LeavesOutClientsBeyondTheMost) {
  PartitionStatistics statistics;
  statistics.sizes.assign(203, 5);
  EXPECT_THAT(preview(statistics), HasSubstr("   199         5\n... and 3 more clients\n"));
  EXPECT_EQ(preview({.sizes = {4, 12}, .class_counts = {}, .label_entropy = {}, .index_hash = "00"}),
            "client  examples\n     0         4\n     1        12\n");
}

}  // namespace
}  // namespace fedarena
