#include "fedarena/accounting/ledger.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "fedarena/accounting/account.hpp"
#include "fedarena/base/error.hpp"

#include "tests/accounting/samples.hpp"

namespace fedarena {
namespace {

using Segment = Ledger::Segment;

TEST(Ledger, JoinsEqualParticipationsInARow) {
  const Ledger ledger = sample_ledger();
  EXPECT_EQ(ledger.clients().at(0).segments,
            (std::vector<Segment>{{1, 5, 3, accesses({{"gradient", 10}}).list()},
                                  {6, 6, 1, accesses({{"gradient", 10}, {"loss", 1}}).list()}}));
  EXPECT_EQ(ledger.clients().at(0).examples, 600);
  EXPECT_TRUE(ledger.clients().at(3).segments.empty());
  EXPECT_EQ(ledger.clients().at(7).segments,
            (std::vector<Segment>{{2, 2, 1, accesses({{"label counts", 1}, {"gradient", 3}}).list()}}));
}

TEST(Ledger, DoesNotGrowWithTheNumberOfRounds) {
  Ledger ledger = idle_ledger(Unit::kNothing);
  for (std::int64_t round = 1; round <= 10'000; ++round) ledger.record(round, 0, accesses({{"gradient", 5}}));
  EXPECT_EQ(ledger.clients().at(0).segments,
            (std::vector<Segment>{{1, 10'000, 10'000, accesses({{"gradient", 5}}).list()}}));
}

// In whatever order clients come; those in the middle divide what is stored together.
TEST(Ledger, KeepsManyClientsApart) {
  constexpr std::int64_t kClients = 1'000;
  Ledger ascending, mixed;
  for (std::int64_t i = 0; i < kClients; ++i) {
    ascending.add_client(i, i);
    const std::int64_t client = i * 619 % kClients;
    mixed.add_client(client, client);
  }
  EXPECT_EQ(mixed, ascending);
  EXPECT_EQ(mixed.to_json(), ascending.to_json());
  const Ledger before = ascending;
  for (std::int64_t client = 5; client < kClients; client += 10)
    ascending.record(1, client, accesses({{"gradient", 1 + client}}));
  EXPECT_EQ(before, mixed);  // a copy is one
  std::int64_t expected = 0;
  for (const auto& [client, record] : ascending.clients()) {
    EXPECT_EQ(client, expected++);
    EXPECT_EQ(record.examples, client);
    EXPECT_EQ(record.segments.empty(), client % 10 != 5);
    EXPECT_EQ(ascending.charged(client), std::vector<Access>());
    EXPECT_TRUE(before.clients().at(client).segments.empty());
  }
  EXPECT_EQ(expected, kClients);
  EXPECT_FALSE(ascending.clients().contains(kClients));
  EXPECT_THROW(ascending.record(2, kClients, {}), Bug);
  EXPECT_THROW(ascending.add_client(3, 3), Bug);
}

TEST(Ledger, TellsApartWhatDiffersInOrderCountOrKind) {
  Ledger ledger = idle_ledger(Unit::kNothing);
  ledger.record(1, 0, accesses({{"gradient", 5}}));
  ledger.record(2, 0, accesses({{"gradient", 6}}));
  ledger.record(3, 0, accesses({{"loss", 6}}));
  ledger.record(4, 0, accesses({{"loss", 6}, {"gradient", 1}}));
  ledger.record(5, 0, accesses({{"gradient", 1}, {"loss", 6}}));
  ledger.record(6, 0, accesses({}));
  ledger.record(7, 0, accesses({{"gradient", 5}}));
  EXPECT_EQ(ledger.clients().at(0).segments.size(), 7U);
}

TEST(Ledger, KnowsItsPastWhereEveryRoundCounts) {
  const auto after = [](std::int64_t rounds) {
    Ledger ledger = idle_ledger(Unit::kRecord, 2);
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
  EXPECT_EQ(ledger.last_round(), 6) << "that of a client";
  ledger.record_population(8, {});
  EXPECT_EQ(ledger.last_round(), 8);
  EXPECT_THROW(ledger.record_population(4, {}), Bug);
  EXPECT_THROW(ledger.record_as_if(0, {}), Bug);
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
TEST(Ledger, ChargesAClientForThePopulationAloneAndNobodyWithoutAClaim) {
  Ledger ledger = sample_ledger(Unit::kClient), without_a_claim = sample_ledger();
  for (const std::int64_t round : {1, 2, 3}) {
    ledger.record_population(round, RoundAccesses({{Gaussian{2}, 1}}));
    without_a_claim.record_population(round, RoundAccesses({{Gaussian{2}, 1}}));
  }
  EXPECT_TRUE(without_a_claim.charged(0).empty());
  for (const std::int64_t client : {0, 3, 7, -1}) {
    EXPECT_EQ(ledger.charged(client), (std::vector<Access>{{Gaussian{2}, 3}})) << client;
  }
  for (const std::int64_t round : {1, 2}) ledger.record_as_if(round, RoundAccesses({{Gaussian{4}, 7}}));
  EXPECT_EQ(ledger.charged_as_if(), (std::vector<Access>{{Gaussian{4}, 14}}));
}

TEST(Ledger, ChargesThePlanWhereDataMadeLessOfIt) {
  Ledger ledger = idle_ledger(Unit::kRecord);
  RoundAccesses less({{Gaussian{2}, 3}, {DeclaredPublic{"classes"}, 1}});
  less.leave_unmade({{Gaussian{2}, 6}, {Gaussian{1}, 1}});
  ledger.record(1, 0, less);
  RoundAccesses all({{Gaussian{2}, 9}, {Gaussian{1}, 1}});
  all.leave_unmade({});
  for (const std::int64_t round : {2, 3}) ledger.record(round, 0, all);
  EXPECT_EQ(ledger.charged(0), (std::vector<Access>{{Gaussian{2}, 9},
                                                    {DeclaredPublic{"classes"}, 1},
                                                    {Gaussian{1}, 1},
                                                    {Gaussian{2}, 18},
                                                    {Gaussian{1}, 2}}));
  EXPECT_TRUE(ledger.charges_more());
  EXPECT_EQ(ledger.made().charged(0), Ledger::accesses_of(ledger.clients().at(0).segments));
  EXPECT_FALSE(ledger.made().charges_more());
  EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
}

TEST(Ledger, ChargesRoundsThatWereLeftOutApartFromThoseThatWereMade) {
  const auto after = [](std::int64_t rounds, std::int64_t end) {
    Ledger ledger = idle_ledger(Unit::kRecord);
    for (std::int64_t round = 1; round <= rounds; ++round) {
      if (round == end + 1) ledger.end_after(end);
      if (round != 2) ledger.record(round, 0, RoundAccesses({{Gaussian{2}, 3}}));
      ledger.record_population(round, RoundAccesses({{Gaussian{4}, 1}}));
    }
    return ledger;
  };
  const Ledger ended = after(9, 4), whole = after(9, 9);
  EXPECT_EQ(ended.ended_after(), 4);
  EXPECT_NEAR(*account(ended, {}).rdp.epsilon, *account(whole, {}).rdp.epsilon, 1e-9);
  EXPECT_EQ(ended.made(), after(4, 9));
  EXPECT_TRUE(ended.charges_more());
  EXPECT_FALSE(whole.charges_more());
  EXPECT_EQ(Ledger::from_json(ended.to_json()), ended);
}

// A crash may lose a round after its answers were seen: whatever the second attempt asks comes on top.
TEST(Ledger, ChargesARoundThatIsMadeAgainTwice) {
  Ledger ledger = idle_ledger(Unit::kRecord);
  RoundAccesses accesses({{Gaussian{2}, 3}});
  accesses.leave_unmade({{Gaussian{2}, 1}, {Gaussian{1}, 1}});
  for (const std::int64_t round : {1, 3, 3}) ledger.record(round, 0, accesses);
  std::int64_t twos = 0, ones = 0;
  for (const Access& access : ledger.charged(0))
    (access.event == Event(Gaussian{2}) ? twos : ones) += access.count;
  EXPECT_EQ(twos, 3 * 4);
  EXPECT_EQ(ones, 3);
  EXPECT_EQ(ledger.clients().at(0).segments.front(), (Segment{1, 2, 1, accesses.list(), accesses.unmade()}));
  EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
}

// The last round but one of client 1 is not lost, although its segment on disk does not tell which it was.
TEST(Ledger, KeepsWhatItKnowsBesideALostRound) {
  const auto until = [](std::int64_t rounds) {
    Ledger ledger = idle_ledger(Unit::kRecord, 2);
    for (std::int64_t round = 1; round <= rounds; ++round) {
      ledger.record(round, 0, RoundAccesses({{Gaussian{2}, 3}}));
      if (round != 3 && round != 4) ledger.record(round, 1, RoundAccesses({{Gaussian{2}, 3}}));
    }
    return ledger;
  };
  Ledger ledger = until(4);
  ledger.add_lost(until(5), 5);
  EXPECT_EQ(ledger.charged(1), (std::vector<Access>{{Gaussian{2}, 6}, {Gaussian{2}, 3}}));
  for (const std::int64_t client : {0, 1}) ledger.record(5, client, RoundAccesses({{Gaussian{2}, 3}}));
  EXPECT_EQ(ledger.clients().at(1).segments,
            (std::vector<Segment>{{1, 2, 2, {{Gaussian{2}, 3}}},
                                  {5, 5, 1, {{Gaussian{2}, 3}, {Gaussian{2}, 3}}, std::nullopt, 2}}));
  EXPECT_FALSE(ledger.varies()) << "each attempt asked for the same";
  Ledger nothing_lost = until(4);
  nothing_lost.add_lost(until(4), 5);
  EXPECT_EQ(nothing_lost, until(4));
  EXPECT_THROW(nothing_lost.add_lost(until(6), 5), Error);
  EXPECT_THROW(nothing_lost.add_lost(until(3), 5), Error);
  EXPECT_EQ(nothing_lost, until(4));
}

// Whoever was asked in vain has not taken part, and another crash loses another attempt, also after a
// checkpoint that knows of the first one.
TEST(Ledger, ChargesEveryAttemptThatWasLostAndCountsNone) {
  const RoundAccesses accesses({{Gaussian{2}, 3}});
  Ledger ledger = idle_ledger(Unit::kRecord, 2);
  for (const std::int64_t client : {0, 1}) ledger.record(1, client, accesses);
  const auto attempt = [&](const Ledger& before) {
    Ledger written = before;
    written.record(2, 0, accesses);
    return written;
  };
  for (const std::int64_t lost : {1, 2, 3}) {
    const Ledger written = attempt(ledger);
    ledger.add_lost(written, 2);
    const Ledger once = ledger;
    ledger.add_lost(written, 2);  // as a run does that is interrupted and resumed twice
    ledger.add_lost(ledger, 2);
    EXPECT_EQ(ledger, once);
    std::int64_t charged = 0;
    for (const Access& access : ledger.charged(0)) charged += access.count;
    EXPECT_EQ(charged, 3 * (1 + lost));
    EXPECT_EQ(Ledger::participations_of(ledger.clients().at(0).segments), 1);
    EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
  }
  EXPECT_EQ(ledger.charged(1), accesses.list());
  // A later round is another segment, although it is like the last attempt.
  Ledger once = idle_ledger(Unit::kRecord), once_written = once;
  once_written.record(1, 0, accesses);
  once.add_lost(once_written, 1);
  once.record(2, 0, accesses);
  EXPECT_EQ(once.clients().at(0).segments,
            (std::vector<Segment>{{1, 1, 0, accesses.list()}, {2, 2, 1, accesses.list()}}));
  EXPECT_EQ(once.charged(0).size(), 2U);
}

TEST(Ledger, KnowsOfALostRoundOfWhomItWasWithheld) {
  Ledger ledger = idle_ledger(Unit::kRecord), written = ledger;
  written.withhold(1);
  ledger.add_lost(written, 1);
  EXPECT_TRUE(ledger.varies(1));
  EXPECT_FALSE(ledger.varies(0));
}

// What stays with a client costs nothing, under every unit, also where it is exact.
TEST(Ledger, ChargesNothingForWhatAClientKeeps) {
  for (const Unit unit : {Unit::kNothing, Unit::kRecord, Unit::kClient}) {
    Ledger ledger = idle_ledger(unit);
    ledger.record(1, 0, RoundAccesses({{Gaussian{2}, 3}}));
    const std::vector<Access> charged = ledger.charged(0);
    for (const std::int64_t round : {2, 4, 4, 6})
      ledger.record_kept(round, 0, RoundAccesses({{ExactAccess{"loss"}, 2}}));
    EXPECT_EQ(ledger.charged(0), charged);
    EXPECT_EQ(ledger.clients().at(0).kept, (std::vector<Segment>{{2, 6, 3, {{ExactAccess{"loss"}, 2}}}}));
    EXPECT_EQ(ledger.after_round(3).most.clients().at(0).kept,
              (std::vector<Segment>{{2, 3, 2, {{ExactAccess{"loss"}, 2}}}}));
    EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
  }
}

TEST(Ledger, TellsWhetherAccessesVariedWithoutAPlan) {
  const auto ledger_of = [](Unit unit, bool planned, std::int64_t last) {
    Ledger ledger = idle_ledger(unit, 2);
    for (const std::int64_t round : {1, 2, 4}) {
      RoundAccesses accesses({{Gaussian{2}, round == 4 ? last : 3}});
      if (planned) accesses.leave_unmade({});
      ledger.record(round, 0, unit == Unit::kClient ? RoundAccesses({{Gaussian{2}, round}}) : accesses);
      ledger.record(round, 1, RoundAccesses({{Gaussian{2}, 3}}));
      if (unit == Unit::kClient) ledger.record_population(round, accesses);
    }
    return ledger;
  };
  for (const Unit unit : {Unit::kRecord, Unit::kClient}) {
    EXPECT_TRUE(ledger_of(unit, false, 5).varies());
    EXPECT_TRUE(ledger_of(unit, false, 5).varies(0));
    EXPECT_EQ(ledger_of(unit, false, 5).varies(1), unit == Unit::kClient);
    EXPECT_FALSE(ledger_of(unit, false, 3).varies());
  }
  EXPECT_FALSE(ledger_of(Unit::kRecord, true, 4).varies());

  // What costs nothing divides nothing.
  Ledger divided = idle_ledger(Unit::kRecord, 1);
  divided.record(1, 0, RoundAccesses({{Gaussian{2}, 2}}));
  divided.record(2, 0, RoundAccesses({{Gaussian{2}, 1}, {DeclaredPublic{"classes"}, 1}, {Gaussian{2}, 1}}));
  EXPECT_FALSE(divided.varies());
  EXPECT_FALSE(ledger_of(Unit::kNothing, false, 5).varies());
}

// What one attempt asked for is known of several together, so that an attempt that asks for more is seen, and
// a round that asks in one go for what two attempts ask for is not taken for them.
TEST(Ledger, TellsWhetherAttemptsVaried) {
  const RoundAccesses once({{Gaussian{2}, 3}}), twice({{Gaussian{2}, 3}, {Gaussian{2}, 3}}),
      other({{Gaussian{2}, 4}});
  const auto varies = [](const std::vector<std::pair<std::int64_t, RoundAccesses>>& rounds) {
    Ledger ledger = idle_ledger(Unit::kRecord);
    for (const auto& [round, accesses] : rounds) ledger.record(round, 0, accesses);
    EXPECT_EQ(Ledger::from_json(ledger.to_json()).varies(), ledger.varies());
    return ledger.varies();
  };
  EXPECT_FALSE(varies({{1, once}, {2, once}, {2, once}, {2, once}, {3, once}}));
  EXPECT_TRUE(varies({{1, once}, {2, once}, {2, other}}));
  EXPECT_TRUE(varies({{1, once}, {2, other}, {2, other}}));
  EXPECT_TRUE(varies({{1, once}, {2, twice}}));
  EXPECT_TRUE(varies({{1, once}, {1, once}, {2, twice}}));
}

TEST(Ledger, RefusesWhatCannotBe) {
  Ledger ledger = sample_ledger();
  EXPECT_THROW(ledger.add_client(0, 600), Bug);
  EXPECT_THROW(ledger.record(7, 1, {}), Bug);                            // no such client
  EXPECT_THROW(ledger.record(4, 0, accesses({{"gradient", 10}})), Bug);  // a round before the last
  EXPECT_EQ(ledger, sample_ledger());
}

}  // namespace
}  // namespace fedarena
