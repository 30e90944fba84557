// What is charged for rounds as they were planned: when data end a run, and when clients ask for less.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "tests/harness/simulation/budgets.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using EarlyEnds = PrivateRuns;

// Whoever stops when the numbers look good has looked at them: the plan is what was fixed before.
TEST_F(EarlyEnds, ChargeThePlan) {
  for (const PrivacyPolicy& policy : private_policies()) {
    FinishedRun whole(setup(policy));
    BegunRun stopped(setup(policy), 1);
    const Ledger made = stopped.ledger();
    ASSERT_TRUE(std::ranges::any_of(made.clients(), [](const auto& entry) {
      return entry.second.segments.empty();
    })) << "no client is left whose accesses have to be found out";
    stopped.charge_rest();
    EXPECT_EQ(stopped.rounds_done(), 1);
    EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
    EXPECT_EQ(stopped.ledger().made(), made);

    const Ledger charged = stopped.ledger();
    ResumedRun resumed(setup(policy), stopped);
    resumed.charge_rest();
    EXPECT_EQ(resumed.ledger(), charged);
  }
}

// In a round of three clients send something, not in the first, which costs nothing.
TEST_F(EarlyEnds, ChargeThePlanWhereRoundsDifferInCost) {
  const auto is_silent = [](std::int64_t round) { return round % 3 != 0; };
  algorithm.entries = [=](std::int64_t round) {
    return is_silent(round) ? std::vector<UplinkEntry>() : std::vector<UplinkEntry>{kUpdate};
  };
  algorithm.on_send = [=](Client& client, Message& uplink) {
    Message all = std::exchange(uplink, {});
    if (!is_silent(client.round)) uplink.put(kUpdate, all[kUpdate]);
  };
  algorithm.on_aggregate = [=](Server& server, const Uplink& uplink) {
    if (!is_silent(server.round)) server.params += uplink.mean(kUpdate);
  };
  ClientPolicy as_if = clients_hidden();
  as_if.as_if_cohort = 20;
  as_if.as_if_population = 100;
  const std::vector<PrivacyPolicy> policies{clients_hidden(), as_if, messages_hidden()};
  for (const PrivacyPolicy& policy : policies) {
    const auto epsilons_of = [](const Ledger& ledger) {
      return std::pair(*odometer_reading(ledger), *odometer_reading(ledger.charged_as_if()));
    };
    const SimulationSetup everyone = setup_on(pool, 6, 4, policy);
    FinishedRun whole(everyone);
    const auto [all, all_as_if] = epsilons_of(whole.ledger());
    for (const int made : {1, 3, 5}) {
      Simulation stopped(everyone);
      for (int round = 0; round < made; ++round) stopped.next_round();
      algorithm.trained = 0;
      stopped.charge_rest();
      const auto [charged, charged_as_if] = epsilons_of(stopped.ledger());
      EXPECT_GE(charged, all * (1 - 1e-12)) << made;
      EXPECT_GE(charged_as_if, all_as_if * (1 - 1e-12)) << made;
      if (!std::holds_alternative<LocalPolicy>(policy)) continue;
      EXPECT_NEAR(charged, all, 1e-9 * all) << "messages are declared";
      EXPECT_EQ(algorithm.trained, 0);
    }
  }
}

// What is undeclared is known before anybody works.
TEST_F(EarlyEnds, ChargeUndeclaredMessagesOfRoundsThatAreLeftOut) {
  algorithm.entries = [](std::int64_t round) -> std::vector<UplinkEntry> {
    if (round >= 5) throw Error::of("synthetic images");
    return {kUpdate, kControl, kExamples};
  };
  BegunRun stopped(setup_on(pool, 6, 4, clients_hidden()), 1);
  EXPECT_TRUE(std::isfinite(*odometer_reading(stopped.ledger())));
  stopped.charge_rest();
  EXPECT_EQ(odometer_reading(stopped.ledger()), kInfinity);
}

// Four batches and a gradient of the whole shard are planned; data take fewer batches, and no gradient of the
// whole shard in most rounds, which costs far more than any batch.
class PlannedRounds : public PrivateRuns {
 protected:
  PlannedRounds() {
    algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}, {0, 1}}}; };
  }
  void ask_for(std::int64_t batches, bool whole) {
    algorithm.steps_in = [batches](std::int64_t) { return batches; };
    algorithm.on_train = [whole](Client& client) { take_gradients(client, 0, whole ? 1 : 0); };
  }
  // Messages of one update, around the model, which stays, and what `other` makes of it.
  void send_around(const std::function<Params(const Params& model)>& other) {
    algorithm.on_centres = [other](const Message& downlink) {
      return std::vector<Params>{downlink[kModel], other(downlink[kModel])};
    };
    algorithm.entries = [](std::int64_t) { return std::vector<UplinkEntry>{kUpdate}; };
    algorithm.on_send = [](Client&, Message& uplink) { uplink = {{kUpdate, uplink[kUpdate]}}; };
    algorithm.on_aggregate = [](Server&, const Uplink&) {};
  }
};

TEST_F(PlannedRounds, ChargeWhatWasPlannedByItsKind) {
  Simulation whole(setup(records_hidden())), less(setup(records_hidden())),
      limited(setup(with_budget(records_hidden(), 1e6)));
  for (int round = 0; round < 6; ++round) {
    ask_for(4, true);
    const results::RoundRecord all = whole.next_round();
    ask_for(1 + round % 4, round == 0);
    const results::RoundRecord record = less.next_round();
    EXPECT_NEAR(*record.epsilon, *all.epsilon, 1e-9) << "round " << record.round;
    limited.next_round();
  }
  EXPECT_GT(*odometer_reading(less.ledger()), *odometer_reading(less.ledger().made()));
  // A budget is no plan: it does not know either what would have been asked for.
  EXPECT_EQ(limited.ledger(), less.ledger());
  EXPECT_FALSE(less.ledger().varies());
}

// Where results would have moved centres, and prices with them, nobody knows; what the next round would cost
// is known.
TEST_F(PlannedRounds, AroundCentresThatMoveMightHaveCostMore) {
  double apart = 1;
  send_around([&](const Params& model) { return (1 + apart) * model; });
  BegunRun stopped(setup(messages_hidden()), 1);
  EXPECT_FALSE(stopped.ledger().varies());
  const double one_round = *odometer_reading(stopped.ledger());
  apart = 8;
  stopped.charge_rest();
  EXPECT_TRUE(stopped.ledger().varies());
  BegunRun dearer(setup(messages_hidden()), 1);
  EXPECT_GT(*odometer_reading(dearer.ledger()), 2 * one_round);
  EXPECT_GT(*odometer_reading(stopped.ledger()), *odometer_reading(dearer.ledger()));
  // So it is of rounds that were made, also where the centres stayed where they were.
  dearer.next_round();
  EXPECT_TRUE(dearer.ledger().varies());
  for (const auto& [client, record] : dearer.ledger().clients()) EXPECT_LE(record.segments.size(), 1U);
}

// Earlier answers moved the centres, and so decided who cannot pay.
TEST_F(PlannedRounds, AroundCentresThatMovedAreWithheldFromWhomTheyAreTooDearFor) {
  double apart = 1;
  send_around([&](const Params& model) { return (1 + apart) * model; });
  BegunRun free(setup(messages_hidden()), 1);
  const double once = 1.5 * *odometer_reading(free.ledger());
  for (const PerClient& budget : {PerClient(once), PerClient(std::vector<double>{once})}) {
    apart = 1;
    const PrivacyPolicy policy = with_budget(messages_hidden(), budget);
    BegunRun simulation(setup(policy), 1);
    EXPECT_FALSE(simulation.ledger().varies());
    apart = 8;
    try {
      simulation.next_round();
    } catch (const BudgetSpent&) {
    }
    EXPECT_TRUE(simulation.ledger().varies()) << budget.is_list();
    // So it is of rounds that a rule left out.
    apart = 1;
    BegunRun stopped(setup(policy), 1);
    apart = 8;
    stopped.charge_rest();
    EXPECT_TRUE(stopped.ledger().varies()) << budget.is_list();
  }
}

// A centre that is no number is the origin, and one of several still: no answer can make it none.
TEST_F(PlannedRounds, AroundCentresOfWhichOneIsNoNumberVaryAsWell) {
  send_around([](const Params& model) { return kNan * model; });
  BegunRun simulation(setup(messages_hidden()), 2);
  EXPECT_TRUE(simulation.ledger().varies());
}

// What a message holds in which round is declared before the first, and no data decide on it.
TEST_F(PlannedRounds, OfMessagesThatAreDeclaredAreNotVaried) {
  algorithm.entries = [](std::int64_t round) {
    return round == 1 ? std::vector<UplinkEntry>() : std::vector<UplinkEntry>{kUpdate};
  };
  algorithm.on_send = [](Client& client, Message& uplink) {
    uplink = client.round == 1 ? Message() : Message{{kUpdate, uplink[kUpdate]}};
  };
  algorithm.on_aggregate = [](Server& server, const Uplink& uplink) {
    if (server.round > 1) (void)uplink.mean(kUpdate);
  };
  for (const PrivacyPolicy& policy : {PrivacyPolicy(messages_hidden()), PrivacyPolicy(clients_hidden())}) {
    FinishedRun whole(setup(policy));
    EXPECT_FALSE(whole.ledger().varies());
    const double all = *odometer_reading(whole.ledger());
    // Nor is it where a budget ends the run.
    Simulation ended(setup(with_budget(policy, all * 0.7)));
    EXPECT_THROW(
        {
          while (!ended.finished()) ended.next_round();
        },
        BudgetSpent);
    EXPECT_GT(ended.rounds_done(), 1);
    EXPECT_FALSE(ended.ledger().varies());
    EXPECT_EQ(Simulation(setup(policy)).forecast().epsilon, all);
    // Of a rule that ends it before anybody sent anything, the rounds with messages are charged.
    BegunRun stopped(setup(policy), 1);
    EXPECT_EQ(*odometer_reading(stopped.ledger()), 0);
    stopped.charge_rest();
    EXPECT_EQ(*odometer_reading(stopped.ledger()), all);
  }
}

// Whoever asked for nothing at all is charged as well.
TEST_F(PlannedRounds, ChargeClientsThatWereNeverAsked) {
  ask_for(4, true);
  BegunRun whole(setup(records_hidden()), 1);
  ask_for(0, false);
  Simulation nothing(setup(records_hidden()));
  EXPECT_NEAR(*nothing.next_round().epsilon, *odometer_reading(whole.ledger()), 1e-9);
}

TEST_F(PlannedRounds, ChargeThePlanOfRoundsThatDataLeaveOut) {
  for (const PerClient& budget : {PerClient(0), PerClient(1e6), PerClient(std::vector<double>{1e6})}) {
    const PrivacyPolicy policy = with_budget(records_hidden(), budget);
    ask_for(4, true);
    FinishedRun whole(setup(policy));
    ask_for(1, false);
    BegunRun stopped(setup(policy), 1);
    const Ledger made = stopped.ledger().made();
    stopped.charge_rest();
    EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
    EXPECT_EQ(stopped.ledger().ended_after(), 1);
    EXPECT_EQ(odometer_reading(stopped.ledger().made()), odometer_reading(made));
  }
}

// Of a client that is drawn for the first time in one of those, the plan of that round.
TEST_F(PlannedRounds, ChargeThePlanOfTheRoundThatWouldHaveBeenAClientsFirst) {
  algorithm.steps = 0;
  algorithm.plan = [](const Client& client) { return AccessPlan{.gradients = {{5, client.round}}}; };
  algorithm.on_train = [](Client& client) { take_gradients(client, 5, client.round); };
  FinishedRun whole(setup_on(pool, 6, 1, records_hidden()));
  BegunRun stopped(setup_on(pool, 6, 1, records_hidden()), 1);
  stopped.charge_rest();
  for (const auto& [client, record] : whole.ledger().clients()) {
    EXPECT_EQ(odometer_reading(stopped.ledger().charged(client)),
              odometer_reading(whole.ledger().charged(client)))
        << "client " << client;
  }
}

// A crash lost the round, or, after the end, the charge for rounds that were left out.
TEST_F(PlannedRounds, ChargeThePlanOfARoundThatWasLost) {
  const RecordPolicy policy = records_hidden(kSystemNoise);
  ask_for(1, false);
  Simulation killed(setup(policy)), resumed(setup(policy)), ended(setup(policy));
  killed.next_round();
  resumed.charge_lost(killed.ledger());
  EXPECT_NEAR(*odometer_reading(resumed.ledger()), *odometer_reading(killed.ledger()), 1e-9);
  ended.restore(killed.save());
  const Ledger made = killed.ledger();
  killed.charge_rest();
  ended.charge_lost(killed.ledger());
  EXPECT_EQ(ended.ledger(), made);
}

// A plan may differ from round to round, as long as it is public: a client that has made something once needs
// it no more.
TEST_F(PlannedRounds, MayDifferFromRoundToRound) {
  const auto has_begun = [](const Client& client) { return client.state.contains(kVisits.name); };
  algorithm.plan = [=](const Client& client) {
    return AccessPlan{.gradients = {{5, has_begun(client) ? 0 : 4}}};
  };
  algorithm.steps = 0;
  algorithm.on_train = [=](Client& client) { take_gradients(client, 5, has_begun(client) ? 0 : 4); };
  FinishedRun whole(setup(records_hidden()));
  EXPECT_FALSE(whole.ledger().varies());
  BegunRun stopped(setup(records_hidden()), 1);
  stopped.charge_rest();
  EXPECT_NEAR(*odometer_reading(stopped.ledger()), *odometer_reading(whole.ledger()), 1e-9);
}

TEST_F(PlannedRounds, HoldClientsToTheirPlan) {
  const auto refusal = [&](const std::function<void(Client&)>& ask) {
    algorithm.steps = 0;
    algorithm.on_train = [&](Client& client) {
      if (client.id == 2) ask(client);
    };
    SimulationSetup everyone = setup_on(pool, 6, 4, records_hidden());
    everyone.algorithm_name = "algorithm \"scripted\"";
    Simulation simulation(everyone);
    return refused_round(simulation);
  };
  EXPECT_THAT(
      refusal([&](Client& client) {
        take_gradients(client, 5, 5);
        take_gradients(client, 0, 1);
      }),
      StartsWith("algorithm \"scripted\" asked client 2 in round 1 for 1 gradient of the whole shard, 5 "
                 "gradients of batches of 5; allowed: what its plan has, which is what epsilon charges: 1 "
                 "gradient of the whole shard, 4 gradients of batches of 5"));
  // Not a batch of another size, nor a vote, in the place of what is planned.
  EXPECT_THAT(refusal([&](Client& client) { take_gradients(client, 6, 1); }),
              HasSubstr("1 gradient of batches of 6;"));
  EXPECT_THAT(refusal([&](Client& client) { take_gradients(client, 0, 2); }),
              HasSubstr("2 gradients of the whole shard;"));
  EXPECT_THAT(refusal([](Client& client) {
                (void)client.oracle.noisy_sum(
                    [](const Voters& voters) { return voters.examples.inputs.sum(1).unsqueeze(1); },
                    {.parts = 2, .numbers = 3});
              }),
              HasSubstr("for 1 vote of parts;"));
  // Where nothing is charged, nobody is held to anything.
  algorithm.on_train = [&](Client& client) { take_gradients(client, 6, 9); };
  EXPECT_NO_THROW(Simulation(setup(NoPolicy{})).next_round());
}

// A ledger with more could not be read again.
TEST_F(PlannedRounds, RefuseAPlanOfMoreAnswersThanALedgerHolds) {
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{1, kMostAccesses}}, .votes = 1}; };
  expect_refused("allowed: at most 1000000000000 answers",
                 [&] { Simulation simulation(setup(records_hidden())); });
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{1, kMostAccesses}}}; };
  EXPECT_NO_THROW(Simulation(setup(records_hidden())));
}

TEST_F(PlannedRounds, RefuseAPlanThatLooksAtData) {
  const Params start = Simulation(setup(records_hidden())).params();
  algorithm.plan = [start](const Client& client) -> std::optional<AccessPlan> {
    if (client.round == 2) (void)client.oracle.gradient(start, {.batch_size = 5});
    return AccessPlan{.gradients = {{5, 4}}};
  };
  BegunRun simulation(setup(records_hidden()), 1);
  EXPECT_THAT(refused_round(simulation), HasSubstr("the oracle is asked for a gradient in access_plan()"));
  // Where nothing is private, either; and what it saw cannot stand in what it throws.
  algorithm.plan = [](const Client& client) -> std::optional<AccessPlan> {
    throw Error::of("{} examples", client.oracle.exact_batch().size());
  };
  expect_refused(StartsWith("the oracle is asked for examples in access_plan()"),
                 [&] { Simulation unstarted(setup(NoPolicy{})); });
}

}  // namespace
}  // namespace fedarena
