// The privacy filter: a run ends before the round that would overspend.
#include <map>
#include <utility>
#include <vector>

#include "tests/harness/simulation/budgets.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

TEST_F(Budgets, PayForExactlyTheRoundsThatTheyCover) {
  for (const PrivacyPolicy& policy : private_policies()) {
    const std::vector<double> spent = epsilons(policy);
    for (std::size_t rounds = 1; rounds < spent.size(); ++rounds) {
      // Equal where nobody took part whose epsilon is the largest.
      if (spent[rounds] == spent[rounds - 1]) continue;
      for (const double budget : {spent[rounds - 1], (spent[rounds - 1] + spent[rounds]) / 2}) {
        Simulation simulation(setup(with_budget(policy, budget)));
        EXPECT_EQ(rounds_of(simulation), static_cast<std::int64_t>(rounds)) << "budget " << budget;
        EXPECT_LE(*odometer_reading(simulation.ledger()), budget);
      }
    }
    Simulation enough(setup(with_budget(policy, spent.back())));
    EXPECT_EQ(rounds_of(enough), 6);
  }
}

TEST_F(Budgets, AreReadWithTheSettingsOfThePolicy) {
  RecordPolicy policy = records_hidden();
  const auto rounds_under = [&](const RecordPolicy& changed) {
    Simulation simulation(everyone(changed));
    return rounds_of(simulation);
  };
  Simulation free(everyone(policy));
  for (int round = 0; round < 3; ++round) policy.budget = *free.next_round().epsilon;
  EXPECT_EQ(rounds_under(policy), 3);
  RecordPolicy classic = policy, loose = policy;
  classic.conversion = "classic";  // states more for the same rounds
  EXPECT_LT(rounds_under(classic), 3);
  loose.delta = 1e-2;
  EXPECT_GT(rounds_under(loose), 3);
}

// When all rounds so far were alike, the last one is not even begun. Of messages the first one tells already
// what the second one will cost, as it is declared.
TEST_F(Budgets, SaveTheWorkOfARoundThatWouldBeWithheld) {
  for (const auto& [policy, rounds] :
       std::vector<std::pair<PrivacyPolicy, int>>{{records_hidden(), 2}, {messages_hidden(), 1}}) {
    Simulation free(everyone(policy));
    double spent = 0;
    for (int round = 0; round < rounds; ++round) spent = *free.next_round().epsilon;
    Simulation simulation(everyone(with_budget(policy, spent)));
    algorithm.trained = 0;
    EXPECT_EQ(rounds_of(simulation), rounds);
    EXPECT_EQ(algorithm.trained, 4 * rounds);
    EXPECT_THROW(simulation.next_round(), BudgetSpent);
    EXPECT_EQ(algorithm.trained, 4 * rounds);
  }
}

// A round of which a plan says that it costs more than those before it is not begun either.
TEST_F(Budgets, LeaveNoTraceOfARoundThatWasWithheld) {
  for (const PrivacyPolicy& policy :
       {PrivacyPolicy(records_hidden()), PrivacyPolicy(clients_hidden_adaptively())}) {
    algorithm.on_train = {};
    algorithm.on_aggregate = {};
    algorithm.steps_in = [](std::int64_t round) { return round < 3 ? 2 : 200; };
    // Of a plan, which data cannot decide; else the ledger would keep that they may have.
    algorithm.plan = [](const Client& client) {
      return AccessPlan{.gradients = {{5, client.round < 3 ? 2 : 200}}};
    };
    BegunRun free(everyone(policy), 1);
    const double twice = *free.next_round().epsilon;
    const double thrice = *free.next_round().epsilon;
    BegunRun simulation(everyone(with_budget(policy, 0.01 * twice + 0.99 * thrice)), 2);
    const Bytes before = simulation.save();
    algorithm.trained = 0;
    EXPECT_THROW(simulation.next_round(), BudgetSpent);
    EXPECT_EQ(simulation.save(), before);
    EXPECT_EQ(simulation.rounds_done(), 2);
    EXPECT_EQ(algorithm.trained, 0);
  }
}

// Two dear rounds alike say nothing of a third one that is planned to be cheap.
TEST_F(Budgets, PayForARoundThatIsPlannedToBeCheaper) {
  algorithm.steps_in = [](std::int64_t round) { return round < 3 ? 200 : 2; };
  algorithm.plan = [](const Client& client) {
    return AccessPlan{.gradients = {{5, client.round < 3 ? 200 : 2}}};
  };
  BegunRun free(everyone(records_hidden()), 2);
  Simulation simulation(everyone(with_budget(records_hidden(), *free.next_round().epsilon)));
  EXPECT_EQ(rounds_of(simulation), 3);
}

TEST_F(Budgets, CoverNoExactAccess) {
  SimulationSetup limited = setup(with_budget(clients_hidden_adaptively(), 1e6));
  BegunRun simulation(limited, 1);
  const Params before = simulation.params();
  algorithm.on_send = [](Client&, Message& uplink) { uplink = {{kUpdate, uplink[kUpdate]}}; };
  algorithm.on_aggregate = [](Server& server, const Uplink& uplink) {
    server.params += uplink.mean(kUpdate);
    server.state.put(kVisits, std::int64_t{-1});
  };
  algorithm.trained = 0;
  EXPECT_THROW(simulation.next_round(), BudgetSpent);
  EXPECT_TRUE(torch::equal(simulation.params().flat(), before.flat()));
  // Whole messages may have decided that they are not as declared, and so that the run ends.
  EXPECT_TRUE(std::isinf(*odometer_reading(simulation.ledger())));
}

TEST_F(Budgets, ThatPayForNoRoundAreAnError) {
  for (const PrivacyPolicy& policy : private_policies()) {
    const std::vector<double> spent = epsilons(policy);
    Simulation simulation(setup(with_budget(policy, spent[0] * 0.999)));
    algorithm.trained = 0;
    EXPECT_THAT(refused_round(simulation), has_all("does not pay for a single round", "noise_multiplier"));
    // What an oracle will be asked for is known from a plan alone, what a message costs before it is made.
    EXPECT_EQ(algorithm.trained == 0, unit(policy) != Unit::kRecord);
  }
}

TEST_F(Budgets, ThatPayForNoPlannedRoundAreAnErrorBeforeAnythingIsTrained) {
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  const std::vector<double> spent = epsilons(records_hidden());
  Simulation simulation(setup(with_budget(records_hidden(), spent[0] * 0.999)));
  algorithm.trained = 0;
  EXPECT_THAT(refused_round(simulation), HasSubstr("does not pay for a single round"));
  EXPECT_EQ(algorithm.trained, 0);
}

// Of one budget, or of each client's own, which say nothing of what the whole population is charged.
TEST_F(Budgets, PayForNoLabelCountsOfTests) {
  for (const PerClient& budget : {PerClient(1e6), PerClient({1e6, 1e7})}) {
    SimulationSetup tested = setup(with_budget(records_hidden(), budget));
    tested.tests_tell_label_counts = true;
    Simulation simulation(tested);
    algorithm.trained = 0;
    expect_refused("public_label_counts = true", [&] { simulation.next_round(); });
    EXPECT_EQ(algorithm.trained, 0);
    std::get<RecordPolicy>(tested.policy).public_label_counts = true;
    EXPECT_NO_THROW(Simulation(tested).next_round());
  }
}

TEST_F(Budgets, AreKeptAfterARestart) {
  const PrivacyPolicy policy = clients_hidden_adaptively();
  const double budget = epsilons(policy)[3];
  BegunRun first(setup(with_budget(policy, budget)), 2);
  ResumedRun second(setup(with_budget(policy, budget)), first);
  EXPECT_EQ(rounds_of(second), 4);
}

// A crash lost a round after it was answered: it has been paid, and nobody took part in it.
TEST_F(Budgets, PayForARoundThatWasLost) {
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  const RecordPolicy free = records_hidden(kSystemNoise);
  BegunRun whole(everyone(free), 3);
  const double thrice = *odometer_reading(whole.ledger());  // of client 3, whose batches are its shard
  for (const bool own : {false, true}) {
    const PerClient budget =
        own ? PerClient(std::vector<double>{1.0001 * thrice}) : PerClient(1.0001 * thrice);
    const SimulationSetup limited = everyone(with_budget(free, budget));
    BegunRun killed(limited, 2);
    const Bytes checkpoint = killed.save();
    killed.next_round();
    Simulation resumed(limited);
    resumed.restore(checkpoint);
    resumed.charge_lost(killed.ledger());
    // The others go on where each has a budget of its own.
    EXPECT_EQ(rounds_of(resumed), own ? 6 : 2);
    EXPECT_EQ(Ledger::participations_of(resumed.ledger().clients().at(3).segments), 2);
    EXPECT_EQ(Ledger::participations_of(resumed.ledger().clients().at(0).segments), own ? 6 : 2);
    EXPECT_NEAR(*odometer_reading(resumed.ledger().charged(3)), thrice, 1e-9);
    EXPECT_FALSE(resumed.ledger().varies()) << "data decided nothing";
    if (own) {
      EXPECT_TRUE(resumed.spent().contains(3));
    }
    ResumedRun again(limited, resumed);
    again.charge_lost(resumed.ledger());
    EXPECT_EQ(again.ledger(), resumed.ledger());
    EXPECT_EQ(again.spent(), resumed.spent());
  }
}

TEST_F(Budgets, ThatALostFirstRoundHasSpentAreAnError) {
  const RecordPolicy policy = records_hidden(kSystemNoise);
  BegunRun once(everyone(policy), 1);
  const double budget = 1.0001 * *odometer_reading(once.ledger());
  Simulation resumed(everyone(with_budget(policy, budget)));
  resumed.charge_lost(once.ledger());
  expect_refused("a crash lost the first round", [&] { resumed.next_round(); });
}

// In the first round all clients take as many votes as they are told that there are; later rounds ask for
// nothing.
TEST_F(Budgets, PayForAsManyVotesAsTheOracleSaysAndForRoundsWithoutAny) {
  const Vote vote = [](const Voters& voters) { return voters.examples.inputs.sum(1).unsqueeze(1); };
  for (const PerClient& budget : {PerClient(2), PerClient({1.0, 3.0})}) {
    std::map<std::int64_t, std::int64_t> taken;
    algorithm.steps_in = [](std::int64_t) { return 0; };
    algorithm.on_train = [&](Client& client) {
      const VoteQuery query{.parts = 2, .numbers = 3};
      if (client.round == 1) {
        std::int64_t votes = 0;
        const std::int64_t paid = client.oracle.votes_left(query);
        for (; client.oracle.votes_left(query) > 0; ++votes) (void)client.oracle.noisy_sum(vote, query);
        EXPECT_EQ(votes, paid);
        taken[client.id] = votes;
      }
      EXPECT_EQ(client.oracle.votes_left(query), 0);
    };
    RecordPolicy policy = records_hidden();
    policy.noise_multiplier = 20;
    Simulation simulation(everyone(with_budget(policy, budget)));
    EXPECT_EQ(rounds_of(simulation), 6);
    EXPECT_TRUE(simulation.spent().empty());
    ASSERT_EQ(taken.size(), partition.size());
    for (const auto& [client, votes] : taken) {
      EXPECT_GT(votes, 0);
      const auto cost = [&](std::int64_t count) {
        return *odometer_reading(std::vector<Access>{{Gaussian{20, Adjacency::kReplaceOne}, count}});
      };
      EXPECT_LE(cost(votes), budget.of(client));
      EXPECT_GT(cost(votes + 1), budget.of(client));
    }
  }
}

// Whether the run ends there is what data may have decided, although all rounds that count were alike, and
// also where the one that does not was like them.
TEST_F(Budgets, TellThatARoundWithoutAPlanWasWithheld) {
  Simulation free(everyone(records_hidden()));
  const double once = 1.0001 * *free.next_round().epsilon;  // of client 3, whose batches are its shard
  Simulation common(everyone(with_budget(records_hidden(), once)));
  EXPECT_EQ(rounds_of(common), 1);
  EXPECT_TRUE(common.ledger().varies());
  BegunRun own(everyone(with_budget(records_hidden(), PerClient(std::vector<double>{once}))), 2);
  EXPECT_TRUE(own.spent().contains(3));
  EXPECT_TRUE(own.ledger().varies(3));
  // A server that asked for a sum will ask for another, which is known before anybody is asked.
  const double sum = epsilons(clients_hidden())[0];
  Simulation of_clients(setup(with_budget(clients_hidden(), 1.0001 * sum)));
  EXPECT_EQ(rounds_of(of_clients), 1);
  EXPECT_FALSE(of_clients.ledger().varies());
  for (const PerClient& budget : {PerClient(20.0), PerClient(std::vector<double>{20.0, 1e6})}) {
    for (const bool planned : {false, true}) {
      algorithm.steps_in = [](std::int64_t round) { return round < 3 ? 2 : 1000; };
      algorithm.plan = {};
      if (planned) {
        algorithm.plan = [](const Client& client) {
          return AccessPlan{.gradients = {{5, client.round < 3 ? 2 : 1000}}};
        };
      }
      Simulation simulation(everyone(with_budget(records_hidden(), budget)));
      if (budget.is_list()) {
        for (int round = 0; round < 3; ++round) simulation.next_round();
        EXPECT_THAT(simulation.spent(), ElementsAre(0, 2));
        EXPECT_EQ(simulation.ledger().varies(0), !planned);
        EXPECT_EQ(simulation.ledger().varies(2), !planned);
      } else {
        EXPECT_EQ(rounds_of(simulation), 2);
        EXPECT_EQ(simulation.ledger().varies(), !planned);
      }
      const Ledger ledger = simulation.ledger();
      ResumedRun again(everyone(with_budget(records_hidden(), budget)), simulation);
      EXPECT_EQ(again.ledger(), ledger);
    }
  }
}

// What is planned and not asked for is spent all the same.
TEST_F(Budgets, PayForThePlan) {
  BegunRun free(everyone(records_hidden()), 3);
  const double budget = *odometer_reading(free.ledger());
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  algorithm.steps_in = [](std::int64_t round) { return round % 3; };
  Simulation simulation(everyone(with_budget(records_hidden(), 1.0001 * budget)));
  EXPECT_EQ(rounds_of(simulation), 3);
}

TEST_F(Budgets, PayForAsManyGradientsAsTheOracleSays) {
  std::map<std::int64_t, std::int64_t> taken;
  algorithm.steps_in = [](std::int64_t) { return 0; };
  algorithm.on_train = [&](Client& client) {
    if (client.round > 1) return;
    std::int64_t gradients = 0;
    for (; client.oracle.gradients_left(2) > 0; ++gradients) take_gradients(client, 2, 1);
    taken[client.id] = gradients;
  };
  RecordPolicy policy = records_hidden();
  policy.noise_multiplier = 5;
  BegunRun simulation(everyone(with_budget(policy, PerClient({2.0, 4.0}))), 1);
  EXPECT_TRUE(simulation.spent().empty());
  ASSERT_EQ(taken.size(), partition.size());
  for (const auto& [client, record] : simulation.ledger().clients()) {
    ASSERT_EQ(record.segments.size(), 1U);
    ASSERT_EQ(record.segments[0].accesses.size(), 1U);
    Access access = record.segments[0].accesses[0];
    EXPECT_EQ(access.count, taken[client]);
    ++access.count;
    EXPECT_GT(*odometer_reading(std::vector{access}), client % 2 == 0 ? 2 : 4);
  }
}

}  // namespace
}  // namespace fedarena
