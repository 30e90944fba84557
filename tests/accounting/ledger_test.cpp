#include "fedarena/accounting/ledger.hpp"

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/accounting/samples.hpp"

namespace fedarena {
namespace {

using Segment = Ledger::Segment;

TEST(RoundAccesses, CountsEqualEventsInARow) {
  const RoundAccesses list = accesses({{"gradient", 3}, {"loss", 1}, {"gradient", 2}});
  const std::vector<Access> expected{
      {ExactAccess{"gradient"}, 3}, {ExactAccess{"loss"}, 1}, {ExactAccess{"gradient"}, 2}};
  EXPECT_EQ(list.list(), expected);
  EXPECT_TRUE(RoundAccesses().list().empty());
}

TEST(Ledger, JoinsEqualParticipationsInARow) {
  const Ledger ledger = sample_ledger();
  const std::vector<Segment>& segments = ledger.clients().at(0).segments;
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0], (Segment{1, 5, 3, accesses({{"gradient", 10}}).list()}));
  EXPECT_EQ(segments[1], (Segment{6, 6, 1, accesses({{"gradient", 10}, {"loss", 1}}).list()}));
  EXPECT_EQ(ledger.clients().at(0).examples, 600);
  EXPECT_TRUE(ledger.clients().at(3).segments.empty());
  EXPECT_EQ(ledger.clients().at(7).segments.size(), 1U);
}

TEST(Ledger, DoesNotGrowWithTheNumberOfRounds) {
  Ledger ledger;
  ledger.add_client(0, 10);
  for (std::int64_t round = 1; round <= 10'000; ++round) ledger.record(round, 0, accesses({{"gradient", 5}}));
  ASSERT_EQ(ledger.clients().at(0).segments.size(), 1U);
  EXPECT_EQ(ledger.clients().at(0).segments[0],
            (Segment{1, 10'000, 10'000, accesses({{"gradient", 5}}).list()}));
}

TEST(Ledger, TellsApartWhatDiffersInOrderCountOrKind) {
  Ledger ledger;
  ledger.add_client(0, 10);
  ledger.record(1, 0, accesses({{"gradient", 5}}));
  ledger.record(2, 0, accesses({{"gradient", 6}}));
  ledger.record(3, 0, accesses({{"loss", 6}}));
  ledger.record(4, 0, accesses({{"loss", 6}, {"gradient", 1}}));
  ledger.record(5, 0, accesses({{"gradient", 1}, {"loss", 6}}));
  ledger.record(6, 0, accesses({}));
  ledger.record(7, 0, accesses({{"gradient", 5}}));
  EXPECT_EQ(ledger.clients().at(0).segments.size(), 7U);
}

TEST(Ledger, LosesNoAccess) {
  const Ledger ledger = sample_ledger();
  std::int64_t total = 0;
  for (const auto& [client, record] : ledger.clients()) {
    for (const Segment& segment : record.segments) {
      for (const Access& access : segment.accesses) total += segment.participations * access.count;
    }
  }
  EXPECT_EQ(total, 3 * 10 + 11 + 4);
}

TEST(Ledger, RefusesWhatCannotBe) {
  Ledger ledger = sample_ledger();
  EXPECT_THROW(ledger.add_client(0, 600), Bug);
  EXPECT_THROW(ledger.record(7, 1, {}), Bug);                            // no such client
  EXPECT_THROW(ledger.record(6, 0, accesses({{"gradient", 10}})), Bug);  // a round that was
  EXPECT_THROW(ledger.record(4, 0, accesses({{"gradient", 10}})), Bug);
  EXPECT_EQ(ledger, sample_ledger());
}

}  // namespace
}  // namespace fedarena
