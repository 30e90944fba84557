// The privacy filter: a run ends before the round that would overspend.
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/oracle/noise_source.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

PrivacyPolicy with_budget(PrivacyPolicy policy, const PerClient& budget) {
  std::visit(Overload{[](NoPolicy&) {}, [&](auto& chosen) { chosen.budget = budget; }}, policy);
  return policy;
}

class Budgets : public PrivateRuns {
 protected:
  SimulationSetup everyone(const PrivacyPolicy& policy) const { return setup_on(pool, 6, 4, policy); }
  /// Epsilon after each round of a run without a limit, by an odometer of its own.
  std::vector<double> epsilons(const PrivacyPolicy& policy) const {
    Simulation simulation(setup(policy));
    const Odometer odometer{AccountSettings()};
    std::vector<double> after;
    while (!simulation.finished()) {
      simulation.next_round();
      after.push_back(odometer.epsilon(simulation.ledger()).epsilon.value());
    }
    return after;
  }
  /// Runs to the end or until the budget is spent.
  static std::int64_t rounds_of(Simulation& simulation) {
    try {
      while (!simulation.finished()) simulation.next_round();
    } catch (const BudgetSpent&) {
      EXPECT_FALSE(simulation.finished());
    }
    return simulation.rounds_done();
  }
};

TEST_F(Budgets, PayForExactlyTheRoundsThatTheyCover) {
  for (const PrivacyPolicy& policy : private_policies()) {
    const std::vector<double> spent = epsilons(policy);
    for (std::size_t rounds = 1; rounds < spent.size(); ++rounds) {
      // Equal where nobody took part whose epsilon is the largest.
      if (spent[rounds] == spent[rounds - 1]) continue;
      for (const double budget : {spent[rounds - 1], (spent[rounds - 1] + spent[rounds]) / 2}) {
        Simulation simulation(setup(with_budget(policy, budget)));
        EXPECT_EQ(rounds_of(simulation), static_cast<std::int64_t>(rounds)) << "budget " << budget;
        EXPECT_LE(*Odometer(AccountSettings()).epsilon(simulation.ledger()).epsilon, budget);
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

// When all rounds so far were alike, the last one is not even begun.
TEST_F(Budgets, SaveTheWorkOfARoundThatWouldBeWithheld) {
  Simulation free(everyone(records_hidden()));
  free.next_round();
  const double once = *free.next_round().epsilon;
  Simulation simulation(everyone(with_budget(records_hidden(), once)));
  algorithm.trained = 0;
  EXPECT_EQ(rounds_of(simulation), 2);
  EXPECT_EQ(algorithm.trained, 8);
  EXPECT_THROW(simulation.next_round(), BudgetSpent);
  EXPECT_EQ(algorithm.trained, 8);
}

// A round that turned out to cost more than those before it is done and thrown away.
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
    Simulation free(everyone(policy));
    free.next_round();
    const double twice = *free.next_round().epsilon;
    const double thrice = *free.next_round().epsilon;
    Simulation simulation(everyone(with_budget(policy, 0.01 * twice + 0.99 * thrice)));
    simulation.next_round();
    simulation.next_round();
    const Bytes before = simulation.save();
    algorithm.trained = 0;
    EXPECT_THROW(simulation.next_round(), BudgetSpent);
    EXPECT_EQ(simulation.save(), before);
    EXPECT_EQ(simulation.rounds_done(), 2);
    // Records: only their own training tells what a round costs. Clients: all rounds cost the same.
    EXPECT_EQ(algorithm.trained, std::holds_alternative<RecordPolicy>(policy) ? 4 : 0);
  }
}

TEST_F(Budgets, WithholdAnExactAccess) {
  SimulationSetup limited = setup(with_budget(clients_hidden_adaptively(), 1e6));
  Simulation simulation(limited);
  simulation.next_round();
  const Bytes before = simulation.save();
  algorithm.on_aggregate = [](Server& server, const Uplink& uplink) {
    server.params += uplink.mean(kUpdate);
    server.state.put(kVisits, std::int64_t{-1});
    (void)uplink.each();
  };
  algorithm.trained = 0;
  EXPECT_THROW(simulation.next_round(), BudgetSpent);
  EXPECT_EQ(simulation.save(), before);
  algorithm.on_aggregate = {};
  EXPECT_EQ(simulation.next_round().round, 2);
}

TEST_F(Budgets, ThatPayForNoRoundAreAnError) {
  for (const PrivacyPolicy& policy : private_policies()) {
    const std::vector<double> spent = epsilons(policy);
    Simulation simulation(setup(with_budget(policy, spent[0] * 0.999)));
    const Bytes before = simulation.save();
    EXPECT_THAT(test::message_of([&] { simulation.next_round(); }),
                AllOf(HasSubstr("does not pay for a single round"), HasSubstr("noise_multiplier")));
    EXPECT_EQ(simulation.save(), before);
  }
}

// Of one budget, or of each client's own, which say nothing of what the whole population is charged.
TEST_F(Budgets, PayForNoLabelCountsOfTests) {
  RecordPolicy each = records_hidden();
  each.budget = PerClient(std::vector<double>{1e6, 1e7});
  for (const PrivacyPolicy& policy : {with_budget(records_hidden(), 1e6), PrivacyPolicy(each)}) {
    SimulationSetup tested = setup(policy);
    tested.tests_tell_label_counts = true;
    Simulation simulation(tested);
    algorithm.trained = 0;
    EXPECT_THAT(test::message_of([&] { simulation.next_round(); }), HasSubstr("public_label_counts = true"));
    EXPECT_EQ(algorithm.trained, 0);
    std::get<RecordPolicy>(tested.policy).public_label_counts = true;
    EXPECT_NO_THROW(Simulation(tested).next_round());
  }
}

TEST_F(Budgets, AreKeptAfterARestart) {
  const PrivacyPolicy policy = clients_hidden_adaptively();
  const double budget = epsilons(policy)[3];
  Simulation first(setup(with_budget(policy, budget)));
  first.next_round();
  first.next_round();
  Simulation second(setup(with_budget(policy, budget)));
  second.restore(first.save());
  EXPECT_EQ(rounds_of(second), 4);
}

// A crash lost a round after it was answered: it has been paid, and nobody took part in it.
TEST_F(Budgets, PayForARoundThatWasLost) {
  RecordPolicy free = records_hidden();
  free.noise_source = kSystemNoise;
  Simulation whole(everyone(free));
  for (int round = 0; round < 3; ++round) whole.next_round();
  const Odometer odometer{AccountSettings()};
  const double thrice =
      *odometer.epsilon(whole.ledger()).epsilon;  // of client 3, whose batches are its shard
  for (const bool own : {false, true}) {
    const PerClient budget =
        own ? PerClient(std::vector<double>{1.0001 * thrice}) : PerClient(1.0001 * thrice);
    const SimulationSetup limited = everyone(with_budget(free, budget));
    Simulation killed(limited);
    killed.next_round();
    killed.next_round();
    const Bytes checkpoint = killed.save();
    killed.next_round();
    Simulation resumed(limited);
    resumed.restore(checkpoint);
    resumed.charge_lost(killed.ledger());
    // The others go on where each has a budget of its own.
    EXPECT_EQ(rounds_of(resumed), own ? 6 : 2);
    EXPECT_EQ(Ledger::participations_of(resumed.ledger().clients().at(3).segments), 2);
    EXPECT_EQ(Ledger::participations_of(resumed.ledger().clients().at(0).segments), own ? 6 : 2);
    EXPECT_NEAR(*odometer.epsilon(resumed.ledger().charged(3)).epsilon, thrice, 1e-9);
    if (own) {
      EXPECT_TRUE(resumed.spent().contains(3));
    }
    Simulation again(limited);
    again.restore(resumed.save());
    again.charge_lost(resumed.ledger());
    EXPECT_EQ(again.ledger(), resumed.ledger());
    EXPECT_EQ(again.spent(), resumed.spent());
  }
}

TEST_F(Budgets, ThatALostFirstRoundHasSpentAreAnError) {
  RecordPolicy policy = records_hidden();
  policy.noise_source = kSystemNoise;
  Simulation once(everyone(policy));
  once.next_round();
  const double budget = 1.0001 * *Odometer(AccountSettings()).epsilon(once.ledger()).epsilon;
  Simulation resumed(everyone(with_budget(policy, budget)));
  resumed.charge_lost(once.ledger());
  EXPECT_THAT(test::message_of([&] { resumed.next_round(); }), HasSubstr("a crash lost the first round"));
}

// Clients of 25, 10, 20 and 5 examples, all of them in every round, with budgets of their own.
class OwnBudgets : public Budgets {
 protected:
  static PerClient list(std::vector<double> numbers) { return PerClient(std::move(numbers)); }

  // A client's epsilon after so many rounds under the policy.
  double cost(const PrivacyPolicy& policy, std::int64_t client, std::int64_t rounds) const {
    Simulation simulation(everyone(policy));
    while (simulation.rounds_done() < rounds) simulation.next_round();
    return *Odometer(AccountSettings()).epsilon(simulation.ledger().charged(client)).epsilon;
  }
  static std::vector<std::int64_t> participations(const Simulation& simulation) {
    std::vector<std::int64_t> counts;
    for (const auto& [client, record] : simulation.ledger().clients())
      counts.push_back(Ledger::participations_of(record.segments));
    return counts;
  }
};

TEST_F(OwnBudgets, EndEachClientsPartByItself) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(messages_hidden())}) {
    const PrivacyPolicy limited =
        with_budget(policy, list({cost(policy, 0, 2), 1.01 * cost(policy, 1, 4), cost(policy, 2, 3), 1e6}));
    Simulation simulation(everyone(limited));
    std::vector<std::int64_t> cohorts;
    std::vector<std::set<std::int64_t>> spent;
    while (!simulation.finished()) {
      cohorts.push_back(simulation.next_round().clients);
      spent.push_back(simulation.spent());
    }
    EXPECT_THAT(participations(simulation), ElementsAre(2, 4, 3, 6));
    EXPECT_THAT(cohorts, ElementsAre(4, 4, 3, 2, 1, 1));
    EXPECT_THAT(spent[1], ElementsAre(0)) << "as soon as nothing is left";
    EXPECT_THAT(spent.back(), ElementsAre(0, 1, 2));
    for (std::int64_t client = 0; client < 4; ++client) {
      const double budget = accounting(limited)->budget.of(client);
      EXPECT_LE(*Odometer(AccountSettings()).epsilon(simulation.ledger().charged(client)).epsilon, budget);
    }
  }
}

TEST_F(OwnBudgets, EndInRoundsThatDataLeaveOutAsTheyWouldHave) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(messages_hidden())}) {
    const PrivacyPolicy limited =
        with_budget(policy, list({cost(policy, 0, 2), 1.01 * cost(policy, 1, 4), cost(policy, 2, 3), 1e6}));
    Simulation stopped(everyone(limited));
    stopped.next_round();
    stopped.charge_rest();
    EXPECT_THAT(participations(stopped), ElementsAre(2, 4, 3, 6));
    EXPECT_THAT(stopped.spent(), ElementsAre(0, 1, 2));
    Simulation again(everyone(limited));
    again.restore(stopped.save());
    EXPECT_EQ(again.spent(), stopped.spent());
  }
}

TEST_F(OwnBudgets, DoNoWorkForClientsThatHaveSpentThem) {
  const PrivacyPolicy policy = messages_hidden();
  Simulation simulation(everyone(with_budget(policy, list({cost(policy, 0, 2), 1e6}))));
  algorithm.trained = 0;
  EXPECT_EQ(rounds_of(simulation), 6);
  EXPECT_EQ(algorithm.trained, 4 + 4 + 4 * 2);
  EXPECT_THAT(participations(simulation), ElementsAre(2, 6, 2, 6));
}

// Only what a client was asked for tells that the budget does not pay for it: its answer is dropped.
TEST_F(OwnBudgets, DropAnAnswerThatTurnedOutTooDear) {
  algorithm.steps = 2;
  const PrivacyPolicy policy = records_hidden();
  const double budget = cost(policy, 0, 3);
  algorithm.steps_in = [](std::int64_t round) { return round == 3 ? 50 : 2; };
  Simulation simulation(everyone(with_budget(policy, list({budget, 1e6, 1e6, 1e6}))));
  simulation.next_round();
  simulation.next_round();
  algorithm.on_aggregate = [&](Server&, const Uplink& uplink) { EXPECT_EQ(uplink.size(), 3); };
  const results::RoundRecord third = simulation.next_round();
  EXPECT_EQ(third.clients, 3);
  EXPECT_THAT(simulation.spent(), ElementsAre(0));
  // Though the next round would be cheap again.
  EXPECT_EQ(simulation.next_round().clients, 3);
  EXPECT_THAT(participations(simulation), ElementsAre(2, 4, 4, 4));
}

TEST_F(OwnBudgets, KeepTheModelInARoundWithoutAnybody) {
  const PrivacyPolicy policy = messages_hidden();
  // A cohort of one: some are drawn again after they have spent theirs.
  Simulation simulation(setup_on(pool, 6, 1, with_budget(policy, list({cost(policy, 0, 1)}))));
  std::int64_t empty = 0;
  try {
    while (!simulation.finished()) {
      const double start = norm(simulation.params());
      const results::RoundRecord round = simulation.next_round();
      if (round.clients > 0) continue;
      ++empty;
      EXPECT_EQ(norm(simulation.params()), start);
      EXPECT_EQ(round.uplink_bytes, 0);
    }
  } catch (const BudgetSpent&) {
  }
  EXPECT_GT(empty, 0);
  for (const std::int64_t rounds : participations(simulation)) EXPECT_LE(rounds, 1);
}

TEST_F(OwnBudgets, AreKeptToTheBitAfterARestart) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(messages_hidden())}) {
    for (const std::int64_t cohort : {1, 2, 4}) {
      const PrivacyPolicy limited =
          with_budget(policy, list({cost(policy, 0, 1), 1.5 * cost(policy, 1, 2), 1e6}));
      const SimulationSetup setup = setup_on(pool, 6, cohort, limited);
      Simulation whole(setup);
      while (!whole.finished()) {
        Simulation again(setup);
        again.restore(whole.save());
        EXPECT_EQ(again.spent(), whole.spent());
        whole.next_round();
        again.next_round();
        EXPECT_EQ(again.save(), whole.save());
      }
    }
  }
}

TEST_F(OwnBudgets, ThatPayForNobodyAreAnError) {
  Simulation simulation(everyone(with_budget(records_hidden(), list({1e-6, 1e-5}))));
  const Bytes before = simulation.save();
  EXPECT_THAT(test::message_of([&] { simulation.next_round(); }),
              HasSubstr("no client's budget pays for a single round"));
  EXPECT_EQ(simulation.save(), before);
}

TEST_F(OwnBudgets, AreToldToTheClients) {
  std::mutex mutex;
  std::map<std::int64_t, double> told;
  algorithm.on_train = [&](Client& client) {
    const std::scoped_lock lock(mutex);
    told[client.id] = client.budget;
  };
  Simulation(everyone(with_budget(records_hidden(), list({1e6, 2e6, 3e6})))).next_round();
  EXPECT_THAT(told, ElementsAre(std::pair(0, 1e6), std::pair(1, 2e6), std::pair(2, 3e6), std::pair(3, 1e6)));
}

// Each client's noise is its own, and its ledger entries say so.
TEST_F(OwnBudgets, AndNoiseMayDifferByClient) {
  RecordPolicy record = records_hidden();
  LocalPolicy local = messages_hidden();
  record.noise_multiplier = local.noise_multiplier = list({1, 2, 4});
  Simulation of_records(everyone(record)), of_messages(everyone(local));
  of_records.next_round();
  of_messages.next_round();
  for (std::int64_t client = 0; client < 4; ++client) {
    const double noise = std::vector<double>{1, 2, 4, 1}[static_cast<std::size_t>(client)];
    const auto event_of = [&](const Simulation& simulation) {
      return simulation.ledger().clients().at(client).segments.at(0).accesses.at(0).event;
    };
    EXPECT_THAT(std::get<SampledGaussian>(event_of(of_records)).noise_multipliers, ElementsAre(noise));
    EXPECT_EQ(std::get<Gaussian>(event_of(of_messages)).noise_multiplier, noise);
  }
}

TEST_F(Budgets, OfZeroSetNoLimit) {
  Simulation simulation(setup(with_budget(records_hidden(), 0)));
  EXPECT_EQ(rounds_of(simulation), 6);
}

// In the first round all clients take as many votes as they are told that there are; later rounds ask for
// nothing.
TEST_F(Budgets, PayForAsManyVotesAsTheOracleSaysAndForRoundsWithoutAny) {
  const Vote vote = [](const Voters& voters) { return voters.examples.inputs.sum(1).unsqueeze(1); };
  for (const PerClient& budget : {PerClient(2), PerClient({1.0, 3.0})}) {
    std::mutex mutex;
    std::map<std::int64_t, std::int64_t> taken;
    algorithm.steps_in = [](std::int64_t) { return 0; };
    algorithm.on_train = [&](Client& client) {
      const VoteQuery query{.parts = 2, .numbers = 3};
      if (client.round == 1) {
        std::int64_t votes = 0;
        const std::int64_t paid = client.oracle.votes_left(query);
        for (; client.oracle.votes_left(query) > 0; ++votes) (void)client.oracle.noisy_sum(vote, query);
        EXPECT_EQ(votes, paid);
        const std::lock_guard lock(mutex);
        taken[client.id] = votes;
      }
      EXPECT_EQ(client.oracle.votes_left(query), 0);
    };
    RecordPolicy policy = records_hidden();
    policy.noise_multiplier = 20;
    Simulation simulation(everyone(with_budget(policy, budget)));
    EXPECT_EQ(rounds_of(simulation), 6);
    EXPECT_TRUE(simulation.spent().empty());
    const Odometer odometer{AccountSettings()};
    ASSERT_EQ(taken.size(), partition.size());
    for (const auto& [client, votes] : taken) {
      EXPECT_GT(votes, 0);
      const auto cost = [&](std::int64_t count) {
        return odometer.epsilon(std::vector<Access>{{Gaussian{20, Adjacency::kReplaceOne}, count}})
            .epsilon.value();
      };
      EXPECT_LE(cost(votes), budget.of(client));
      EXPECT_GT(cost(votes + 1), budget.of(client));
    }
  }
}

// Whether the run ends there is what data may have decided, although all rounds that count were alike.
TEST_F(Budgets, TellThatARoundWithoutAPlanWasWithheld) {
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
      Simulation again(everyone(with_budget(records_hidden(), budget)));
      again.restore(simulation.save());
      EXPECT_EQ(again.ledger(), ledger);
    }
  }
}

// What is planned and not asked for is spent all the same.
TEST_F(Budgets, PayForThePlan) {
  Simulation free(everyone(records_hidden()));
  for (int round = 0; round < 3; ++round) free.next_round();
  const double budget = *Odometer(AccountSettings()).epsilon(free.ledger()).epsilon;
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  algorithm.steps_in = [](std::int64_t round) { return round % 3; };
  Simulation simulation(everyone(with_budget(records_hidden(), 1.0001 * budget)));
  EXPECT_EQ(rounds_of(simulation), 3);
}

TEST_F(Budgets, PayForAsManyGradientsAsTheOracleSays) {
  std::mutex mutex;
  std::map<std::int64_t, std::int64_t> taken;
  algorithm.steps_in = [](std::int64_t) { return 0; };
  algorithm.on_train = [&](Client& client) {
    if (client.round > 1) return;
    const Params at = Params::zeros(client.model.layout(), client.model.options());
    std::int64_t gradients = 0;
    for (; client.oracle.gradients_left(2) > 0; ++gradients)
      (void)client.oracle.gradient(at, {.batch_size = 2});
    const std::lock_guard lock(mutex);
    taken[client.id] = gradients;
  };
  RecordPolicy policy = records_hidden();
  policy.noise_multiplier = 5;
  Simulation simulation(everyone(with_budget(policy, PerClient({2.0, 4.0}))));
  simulation.next_round();
  EXPECT_TRUE(simulation.spent().empty());
  const Odometer odometer{AccountSettings()};
  ASSERT_EQ(taken.size(), partition.size());
  for (const auto& [client, record] : simulation.ledger().clients()) {
    ASSERT_EQ(record.segments.size(), 1U);
    ASSERT_EQ(record.segments[0].accesses.size(), 1U);
    Access access = record.segments[0].accesses[0];
    EXPECT_EQ(access.count, taken[client]);
    ++access.count;
    EXPECT_GT(odometer.epsilon(std::vector{access}).epsilon.value(), client % 2 == 0 ? 2 : 4);
  }
}

}  // namespace
}  // namespace fedarena
