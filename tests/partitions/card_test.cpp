// What is said of a partition, and which test examples belong to each client.
#include "partitions/card.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "partitions/test_shares.hpp"
#include "tests/matchers.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

TEST(PartitionStatistics, CountSizesClassesAndEntropy) {
  const Labelled data({0, 1, 2, 0, 1, 0}, 4);
  const PartitionStatistics statistics = partition_statistics({{0, 1, 2, 4}, {3, 5}}, data);
  EXPECT_THAT(statistics.sizes, ElementsAre(4, 2));
  EXPECT_THAT(statistics.class_counts, ElementsAre(Indices{1, 2, 1, 0}, Indices{2, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(statistics.label_entropy[0], 1.5 * std::log(2));  // 1/4, 1/2, 1/4
  EXPECT_EQ(statistics.label_entropy[1], 0);
  EXPECT_FALSE(std::signbit(statistics.label_entropy[1]));
}

TEST(PartitionStatistics, LeaveClassesOutWithoutLabels) {
  const PartitionStatistics statistics = partition_statistics({{0, 1}, {2}}, unlabelled(3));
  EXPECT_THAT(statistics.sizes, ElementsAre(2, 1));
  EXPECT_TRUE(statistics.class_counts.empty());
  EXPECT_TRUE(statistics.label_entropy.empty());
}

TEST(PartitionStatistics, CountNoClassesOfHugeFederations) {
  for (const std::int64_t clients : {100'000, 100'001}) {
    const Labelled data = Labelled::balanced(10, (clients + 9) / 10);
    const Partition partition(static_cast<std::size_t>(clients), {0});
    const PartitionStatistics statistics = partition_statistics(partition, data);
    EXPECT_EQ(statistics.sizes.size(), partition.size());
    const std::size_t counted = clients == 100'000 ? partition.size() : 0;
    EXPECT_EQ(statistics.class_counts.size(), counted);
    EXPECT_EQ(statistics.label_entropy.size(), counted);
  }
}

TEST(PartitionStatistics, RefuseIndicesOfOtherData) {
  const Labelled data({0, 1}, 2);
  EXPECT_THROW(partition_statistics({{0, 2}}, data), Bug);
}

// Computed apart from this code, by the definition in card.hpp.
TEST(IndexHash, FollowsItsDefinitionAndSeesBoundariesAndOrder) {
  EXPECT_EQ(index_hash({{0, 2}, {1}}), "12a4dbb4523099c7");
  EXPECT_EQ(index_hash({{0, 1, 2}}), "25510a1c3e12d6a4");
  EXPECT_EQ(index_hash({{0}, {1}, {2}}), "829e66a0c5b1b684");
  EXPECT_NE(index_hash({{0, 1}, {2}}), index_hash({{0}, {1, 2}}));
  EXPECT_NE(index_hash({{0}, {1}}), index_hash({{1}, {0}}));
}

PartitionStatistics statistics_of(std::vector<std::int64_t> sizes, Counts counts = {},
                                  std::vector<double> entropies = {}) {
  return {.sizes = std::move(sizes),
          .class_counts = std::move(counts),
          .label_entropy = std::move(entropies),
          .index_hash = "1f2e3d4c5b6a7988"};
}

TEST(Describe, SaysWhatIsAlikeAndWhatDiffers) {
  EXPECT_EQ(describe("classes", statistics_of({11339, 12690, 12000}, {{1, 1, 0}, {0, 1, 1}, {1, 0, 1}})),
            "classes: 3 clients, 2 classes each, sizes 11,339-12,690, index hash 1f2e3d4c5b6a7988");
  EXPECT_EQ(describe("dirichlet", statistics_of({7, 7}, {{7, 0}, {3, 4}})),
            "dirichlet: 2 clients, 1-2 classes each, size 7 each, index hash 1f2e3d4c5b6a7988");
  EXPECT_EQ(describe("iid", statistics_of({1234567}, {{5, 0}})),
            "iid: 1 client, 1 class each, size 1,234,567 each, index hash 1f2e3d4c5b6a7988");
  EXPECT_EQ(describe("iid", statistics_of({999, 1000})),
            "iid: 2 clients, sizes 999-1,000, index hash 1f2e3d4c5b6a7988");
}

TEST(PartitionId, HoldsEverySettingThatIsOnInOneOrder) {
  EXPECT_EQ(partition_id("iid", {}, 7), "iid(clients=5,seed=7)");
  const std::string id =
      partition_id("dirichlet", {{"min_examples", 1}, {"rotations", Indices{0, 90}}, {"alpha", 0.1}}, 1);
  EXPECT_EQ(id, "dirichlet(clients=5,rotations=[0,90],alpha=0.1,min_examples=1,seed=1)");
  EXPECT_EQ(
      partition_id("dirichlet", {{"alpha", 0.1}, {"rotations", Indices{0, 90}}, {"min_examples", 1}}, 1), id);
}

TEST(PartitionId, OfEveryKindIsOneWordOfItsOwn) {
  std::set<std::string> ids;
  for (const std::string& kind : partition_names()) {
    const std::string id = partition_id(kind, {}, 1);
    EXPECT_EQ(id.find(' '), std::string::npos) << id;
    for (const auto& [name, value] : without_off(complete(partition_fields(kind), {})))
      EXPECT_THAT(id, HasSubstr(name + "="));
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), partition_names().size());
  EXPECT_THROW(partition_id("iid", {{"alpha", 0.5}}, 1), Error);
  EXPECT_THROW(partition_id("idd", {}, 1), Error);
}

TEST(PartitionCard, DescribesStatisticsAndId) {
  const Labelled data({0, 0, 1, 1}, 2);
  const Settings settings = {{"clients", 2}, {"classes_per_client", 1}};
  const Partition partition = make_partition("classes", settings, data, 3);
  const PartitionCard card = partition_card("classes", settings, 3, partition, data);
  EXPECT_EQ(card.statistics.index_hash, index_hash(partition));
  EXPECT_EQ(describe(card),
            "classes: 2 clients, 1 class each, size 2 each, label entropy 0.00 nats, index hash " +
                index_hash(partition) + ", id classes(clients=2,classes_per_client=1,seed=3)");
}

TEST(Preview, ShowsSizesEntropiesHeatAndCounts) {
  EXPECT_EQ(preview(statistics_of({1200, 8}, {{1000, 200, 0}, {0, 0, 8}}, {0.4506, 0})),
            "client  examples  entropy               0    1  2\n"
            "     0      1200     0.45  |██░░··|  1000  200  0\n"
            "     1         8     0.00  |····░░|     0    0  8\n"
            "heat, a class after the other: · no example, ░ to 250, ▒ to 500, ▓ to 750, █ to 1000\n");
}

TEST(Preview, HasOnlyShadesThatCountsCanHave) {
  EXPECT_THAT(preview(statistics_of({2, 1}, {{1, 1}, {0, 1}}, {0.69, 0})),
              EndsWith("heat, a class after the other: · no example, █ to 1\n"));
}

// The ranges of heat are (0, m/4], (m/4, m/2], (m/2, 3m/4] and (3m/4, m].
TEST(Preview, CutsHeatIntoFourEqualRanges) {
  EXPECT_THAT(preview(statistics_of({36}, {{0, 1, 2, 3, 4, 5, 6, 7, 8}}, {2.0})),
              HasSubstr("|··░░░░▒▒▒▒▓▓▓▓████|"));
}

TEST(Preview, OfManyClassesIsHeatAlone) {
  std::string heat;
  for (int i = 0; i < 62; ++i) heat += "█";
  EXPECT_THAT(preview(statistics_of({62}, {Indices(62, 1)}, {4.1271})),
              HasSubstr("     0        62     4.13  |" + heat + "|\nheat"));
}

TEST(Preview, LeavesOutClientsBeyondTheMost) {
  EXPECT_THAT(preview(statistics_of(Indices(203, 5))),
              HasSubstr("   199         5\n... and 3 more clients\n"));
  EXPECT_EQ(preview(statistics_of({4, 12})), "client  examples\n     0         4\n     1        12\n");
}

Indices counts_by_class(const Indices& share, const PartitionInput& data) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.classes));
  for (const std::int64_t index : share) {
    ++counts[static_cast<std::size_t>(data.labels[static_cast<std::size_t>(index)])];
  }
  return counts;
}

TEST(TestShares, HaveTheMixtureOfClassesThatAClientHolds) {
  // Of class 0, client 0 holds one example of four and client 1 three; of class 1, client 0 holds all.
  const Labelled train({0, 1, 0, 1, 0, 0}, 2);
  const Partition shares = {{0, 1, 3}, {2, 4, 5}};
  const Labelled test = Labelled::balanced(2, 8);
  const Partition dealt = deal_test_examples(shares, train, test, 1);
  ASSERT_EQ(dealt.size(), 2U);
  EXPECT_THAT(counts_by_class(dealt[0], test), ElementsAre(2, 8));
  EXPECT_THAT(counts_by_class(dealt[1], test), ElementsAre(6, 0));
}

TEST(TestShares, AreDisjointAscendingAndLeaveOutOnlyClassesThatNobodyHolds) {
  Stream stream({.seed = 2});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Labelled train = Labelled::random(10, 500, stream);
    const Labelled test = Labelled::random(10, 200, stream);
    const Partition shares = make_partition("dirichlet", {{"clients", 7}, {"alpha", 0.3}}, train, seed);
    const Partition dealt = deal_test_examples(shares, train, test, seed);
    std::set<std::int64_t> seen;
    for (const auto& share : dealt) {
      EXPECT_TRUE(std::ranges::is_sorted(share));
      for (const std::int64_t index : share) EXPECT_TRUE(seen.insert(index).second) << index;
    }
    EXPECT_EQ(seen.size(), 200U);
    EXPECT_EQ(dealt, deal_test_examples(shares, train, test, seed));
    EXPECT_NE(dealt, deal_test_examples(shares, train, test, seed + 1));
  }
  const Labelled train({0, 0, 1}, 3);
  const Labelled test({0, 1, 2, 2}, 3);
  EXPECT_THAT(deal_test_examples({{0, 1}, {2}}, train, test, 1), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(TestShares, AreTheUsersOwnWhereNoTwoClientsShareAUser) {
  const std::vector<std::int64_t> train_users = {0, 0, 1, 2}, test_users = {2, 0, 1, 0, 3};
  Labelled train_data({0, 0, 1, 1}, 2), test_data({0, 0, 1, 1, 1}, 2);
  PartitionInput train = train_data, test = test_data;
  train.users = train_users;
  test.users = test_users;
  // User 3 trained nobody's model.
  EXPECT_THAT(deal_test_examples({{0, 1}, {2, 3}}, train, test, 1),
              ElementsAre(ElementsAre(1, 3), ElementsAre(0, 2)));
  // User 0 is shared, so classes decide.
  EXPECT_THAT(deal_test_examples({{0}, {1, 2, 3}}, train, test, 1)[0].size(), 1U);
}

TEST(TestShares, OfRegressionDataFollowTheClientsSizes) {
  const PartitionInput train{.examples = 10}, test{.examples = 5};
  Partition shares(2);
  shares[0] = {0, 1};
  for (std::int64_t index = 2; index < 10; ++index) shares[1].push_back(index);
  const Partition dealt = deal_test_examples(shares, train, test, 1);
  EXPECT_EQ(dealt[0].size(), 1U);
  EXPECT_EQ(dealt[1].size(), 4U);
}

TEST(TestShares, TellLabelCountsWhereTheyAreCutByThem) {
  const std::vector<std::int64_t> labels{0, 1, 0, 1}, users{7, 7, 8, 8};
  const PartitionInput of_users{.labels = labels, .examples = 4, .classes = 2, .users = users};
  PartitionInput nameless = of_users;
  nameless.users = {};
  const Partition by_user{{0, 1}, {2, 3}}, across_users{{0, 2}, {1, 3}};
  EXPECT_TRUE(tests_tell_label_counts(by_user, nameless, nameless));
  EXPECT_TRUE(tests_tell_label_counts(by_user, of_users, nameless));
  EXPECT_TRUE(tests_tell_label_counts(across_users, of_users, of_users));
  EXPECT_FALSE(tests_tell_label_counts(by_user, of_users, of_users));
  EXPECT_FALSE(tests_tell_label_counts(by_user, unlabelled(4), unlabelled(4)));
}

TEST(TestShares, AreOfClientsWhereTheseAreTheUsers) {
  const std::vector<std::int64_t> users{7, 7, 8, 8}, others{9, 9, 9, 9};
  PartitionInput train = unlabelled(4), same = train, strangers = train;
  train.users = same.users = users;
  strangers.users = others;
  EXPECT_TRUE(tests_are_of_clients({{0, 1}, {2, 3}}, train, same));
  EXPECT_FALSE(tests_are_of_clients({{0, 2}, {1, 3}}, train, same)) << "nobody is a client";
  EXPECT_FALSE(tests_are_of_clients({{0, 1}, {2, 3}}, train, strangers));
  EXPECT_FALSE(tests_are_of_clients({{0, 1}, {2, 3}}, train, unlabelled(4)));
  EXPECT_FALSE(tests_are_of_clients({{0, 1}, {2, 3}}, unlabelled(4), same));
}

TEST(TestShares, MayBeEmpty) {
  const Labelled train({0, 0, 0, 1}, 2), test({0, 1}, 2);
  const Partition dealt = deal_test_examples({{0}, {1, 2}, {3}}, train, test, 1);
  EXPECT_THAT(dealt[0], IsEmpty());  // a third of one example
  EXPECT_THAT(dealt[1], ElementsAre(0));
  EXPECT_THAT(dealt[2], ElementsAre(1));
}

}  // namespace
}  // namespace fedarena
