// One client a user.
#include <algorithm>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/message_of.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

using test::message_of;
using testing::ElementsAre;
using Indices = std::vector<std::int64_t>;

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
  EXPECT_THAT(make_partition("by-user", {setting("min_examples", 2)}, input_of(kUsers), 1),
              ElementsAre(Indices{1, 5}, Indices{0, 2, 4}));
}

// Two of the three users with examples enough: each pair in a third of the seeds.
TEST(ByUser, DrawsUsersUniformlyAndKeepsTheirOrder) {
  const Indices users = {0, 1, 2, 3, 0, 2, 3};
  std::vector<std::int64_t> drawn(3);
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const Partition partition =
        make_partition("by-user", {setting("clients", 2), setting("min_examples", 2)}, input_of(users), seed);
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
    Indices users;
    for (int i = 0; i < 300; ++i) users.push_back(static_cast<std::int64_t>(stream.below(40)));
    std::vector<std::int64_t> held(40);
    for (const std::int64_t user : users) ++held[static_cast<std::size_t>(user)];
    const auto least = static_cast<std::int64_t>(1 + stream.below(8));
    const auto eligible = std::count_if(held.begin(), held.end(), [&](auto count) { return count >= least; });
    if (eligible == 0) continue;
    const auto clients = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(eligible) + 1));
    const Settings settings = {setting("clients", clients), setting("min_examples", least)};
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
  const auto refusal = [](const Settings& settings, const PartitionInput& input) {
    return message_of([&] { make_partition("by-user", settings, input, 1); });
  };
  EXPECT_EQ(refusal({}, {.labels = {}, .examples = 7, .classes = 0}),
            "partition \"by-user\" deals by user, and this data set does not say whose its examples are\n"
            "  use another partition, or a data set with users");
  EXPECT_EQ(refusal({setting("clients", 5)}, input_of(kUsers)),
            "clients is 5 and the data has 4 users with at least 1 example\n"
            "  lower clients or min_examples; clients = 0 takes all users");
  EXPECT_EQ(refusal({setting("clients", 2), setting("min_examples", 3)}, input_of(kUsers)),
            "clients is 2 and the data has 1 user with at least 3 examples\n"
            "  lower clients or min_examples; clients = 0 takes all users");
  EXPECT_EQ(refusal({setting("min_examples", 4)}, input_of(kUsers)),
            "no user of the data has at least 4 examples\n  lower min_examples");
  EXPECT_EQ(refusal({setting("clients", -1)}, input_of(kUsers)),
            "clients is -1; allowed: an integer from 0 to 1000000");
}

}  // namespace
}  // namespace fedarena
