// The privacy filter: a run ends before the round that would overspend.
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/simulation/small_runs.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

PrivacyPolicy with_budget(PrivacyPolicy policy, double budget) {
  if (auto* records = std::get_if<RecordPolicy>(&policy)) records->budget = budget;
  if (auto* clients = std::get_if<ClientPolicy>(&policy)) clients->budget = budget;
  if (auto* local = std::get_if<LocalPolicy>(&policy)) local->budget = budget;
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

TEST_F(Budgets, OfZeroSetNoLimit) {
  Simulation simulation(setup(with_budget(records_hidden(), 0)));
  EXPECT_EQ(rounds_of(simulation), 6);
}

}  // namespace
}  // namespace fedarena
