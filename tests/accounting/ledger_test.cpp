#include "fedarena/accounting/ledger.hpp"

#include <algorithm>

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

TEST(Ledger, KnowsItsPastWhereEveryRoundCounts) {
  const auto after = [](std::int64_t rounds) {
    Ledger ledger(Unit::kRecord);
    ledger.add_client(0, 10);
    ledger.add_client(1, 20);
    for (std::int64_t round = 1; round <= rounds; ++round) {
      ledger.record(round, 0, accesses({{"gradient", 1 + round / 4}}));
      if (round > 2) ledger.record(round, 1, accesses({{"loss", 1}}));
      ledger.record_population(round, accesses({{"messages", 1 + round / 5}}));
      ledger.record_as_if(round, accesses({{"messages", 1}}));
    }
    return ledger;
  };
  const Ledger last = after(9);
  for (std::int64_t round = 0; round <= 10; ++round) {
    const auto [fewest, most] = last.after_round(round);
    EXPECT_EQ(fewest, after(std::min<std::int64_t>(round, 9))) << round;
    EXPECT_EQ(most, fewest) << round;
  }
}

TEST(Ledger, BoundsItsPastWhereAClientSatRoundsOut) {
  // Rounds 1, 2 and 5 of client 0 are one segment of three participations, which does not tell them.
  const Ledger ledger = sample_ledger();
  const auto in_segment = [](const Ledger& past) {
    return past.clients().at(0).segments.at(0).participations;
  };
  const std::vector<std::pair<int, int>> bounds{{1, 1}, {1, 2}, {1, 2}, {2, 2}, {3, 3}, {3, 3}};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto [fewest, most] = ledger.after_round(static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(in_segment(fewest), bounds[i].first) << "after round " << i + 1;
    EXPECT_EQ(in_segment(most), bounds[i].second) << "after round " << i + 1;
  }
}

TEST(Ledger, KeepsThePopulationsAccessesApart) {
  Ledger ledger = sample_ledger(Unit::kClient);
  const auto before = ledger.clients();
  for (const std::int64_t round : {1, 2, 4})
    ledger.record_population(round, RoundAccesses({{Gaussian{2}, 1}}));
  ledger.record_population(5, RoundAccesses({{Gaussian{3}, 1}}));
  ledger.record_as_if(1, RoundAccesses({{Gaussian{9}, 1}}));
  EXPECT_EQ(ledger.clients(), before);
  EXPECT_EQ(ledger.population(),
            (std::vector<Segment>{{1, 4, 3, {{Gaussian{2}, 1}}}, {5, 5, 1, {{Gaussian{3}, 1}}}}));
  EXPECT_EQ(ledger.as_if(), (std::vector<Segment>{{1, 1, 1, {{Gaussian{9}, 1}}}}));
  EXPECT_THROW(ledger.record_population(5, {}), Bug);
  EXPECT_THROW(ledger.record_as_if(1, {}), Bug);
}

TEST(Ledger, ChargesARecordForWhatItsClientAndTheServerDid) {
  Ledger ledger = sample_ledger(Unit::kRecord);
  ledger.record_population(3, RoundAccesses({{Gaussian{2}, 5}}));
  ledger.record_population(4, RoundAccesses({{Gaussian{2}, 5}}));
  EXPECT_EQ(ledger.charged(0), (std::vector<Access>{{ExactAccess{"gradient"}, 30},
                                                    {ExactAccess{"gradient"}, 10},
                                                    {ExactAccess{"loss"}, 1},
                                                    {Gaussian{2}, 10}}));
  EXPECT_EQ(ledger.charged(3), (std::vector<Access>{{Gaussian{2}, 10}}));
  EXPECT_EQ(ledger.charged(7).size(), 3U);
  EXPECT_TRUE(ledger.charged_as_if().empty());
  EXPECT_THROW(ledger.charged(1), Bug);
}

// What a client's own training does stays on the client, and whoever sits a round out is charged too: that
// it did is the secret that sampling amplifies.
TEST(Ledger, ChargesAClientForThePopulationAlone) {
  Ledger ledger = sample_ledger(Unit::kClient);
  for (const std::int64_t round : {1, 2, 3})
    ledger.record_population(round, RoundAccesses({{Gaussian{2}, 1}}));
  for (const std::int64_t client : {0, 3, 7, -1}) {
    EXPECT_EQ(ledger.charged(client), (std::vector<Access>{{Gaussian{2}, 3}})) << client;
  }
  for (const std::int64_t round : {1, 2}) ledger.record_as_if(round, RoundAccesses({{Gaussian{4}, 7}}));
  EXPECT_EQ(ledger.charged_as_if(), (std::vector<Access>{{Gaussian{4}, 14}}));
}

TEST(Ledger, ChargesNobodyWithoutAClaim) {
  Ledger ledger = sample_ledger();
  ledger.record_population(1, RoundAccesses({{Gaussian{2}, 1}}));
  EXPECT_TRUE(ledger.charged(0).empty());
}

TEST(Ledger, NamesItsUnits) {
  EXPECT_EQ(name(Unit::kNothing), "none");
  EXPECT_EQ(name(Unit::kRecord), "record");
  EXPECT_EQ(name(Unit::kClient), "client");
  EXPECT_EQ(name(Adjacency::kAddRemove), "add-remove");
  EXPECT_EQ(name(Adjacency::kReplaceOne), "replace-one");
}

// Equal to the last bit, or another event: what is alike for a person is not the same access.
TEST(RoundAccesses, TellApartEventsThatDifferInOneNumber) {
  const std::vector<Event> events = event_of_each_kind();
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t j = 0; j < events.size(); ++j) {
      RoundAccesses pair;
      pair.add(events[i]);
      pair.add(events[j]);
      EXPECT_EQ(pair.list().size(), i == j ? 1U : 2U) << i << ", " << j;
    }
  }
  RoundAccesses close;
  close.add(Gaussian{1});
  close.add(Gaussian{1 + 0x1p-52});
  close.add(Gaussian{1, Adjacency::kReplaceOne});
  EXPECT_EQ(close.list().size(), 3U);
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
