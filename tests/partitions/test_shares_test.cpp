// Which test examples each client is tested on.
#include "partitions/test_shares.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> counts_by_class(const std::vector<std::int64_t>& share,
                                          const PartitionInput& data) {
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
  const Partition dealt = deal_test_examples(shares, train.input(), test.input(), 1);
  ASSERT_EQ(dealt.size(), 2U);
  EXPECT_THAT(counts_by_class(dealt[0], test.input()), ElementsAre(2, 8));
  EXPECT_THAT(counts_by_class(dealt[1], test.input()), ElementsAre(6, 0));
}

TEST(TestShares, AreDisjointAscendingAndLeaveOutOnlyClassesThatNobodyHolds) {
  Stream stream({.seed = 2});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Labelled train = Labelled::random(10, 500, stream);
    const Labelled test = Labelled::random(10, 200, stream);
    const Partition shares =
        make_partition("dirichlet", {setting("clients", 7), {"alpha", 0.3}}, train.input(), seed);
    const Partition dealt = deal_test_examples(shares, train.input(), test.input(), seed);
    std::set<std::int64_t> seen;
    for (const auto& share : dealt) {
      EXPECT_TRUE(std::ranges::is_sorted(share));
      for (const std::int64_t index : share) EXPECT_TRUE(seen.insert(index).second) << index;
    }
    EXPECT_EQ(seen.size(), 200U);
    EXPECT_EQ(dealt, deal_test_examples(shares, train.input(), test.input(), seed));
    EXPECT_NE(dealt, deal_test_examples(shares, train.input(), test.input(), seed + 1));
  }
  const Labelled train({0, 0, 1}, 3);
  const Labelled test({0, 1, 2, 2}, 3);
  EXPECT_THAT(deal_test_examples({{0, 1}, {2}}, train.input(), test.input(), 1),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(TestShares, AreTheUsersOwnWhereNoTwoClientsShareAUser) {
  const std::vector<std::int64_t> train_users = {0, 0, 1, 2}, test_users = {2, 0, 1, 0, 3};
  Labelled train_data({0, 0, 1, 1}, 2), test_data({0, 0, 1, 1, 1}, 2);
  PartitionInput train = train_data.input(), test = test_data.input();
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

TEST(TestShares, MayBeEmpty) {
  const Labelled train({0, 0, 0, 1}, 2), test({0, 1}, 2);
  const Partition dealt = deal_test_examples({{0}, {1, 2}, {3}}, train.input(), test.input(), 1);
  EXPECT_THAT(dealt[0], IsEmpty());  // a third of one example
  EXPECT_THAT(dealt[1], ElementsAre(0));
  EXPECT_THAT(dealt[2], ElementsAre(1));
}

}  // namespace
}  // namespace fedarena
