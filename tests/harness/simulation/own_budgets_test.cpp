// The privacy filter where each client has a budget of its own.
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/harness/simulation/budgets.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// Clients of 25, 10, 20 and 5 examples, all of them in every round, with budgets of their own.
class OwnBudgets : public Budgets {
 protected:
  static PerClient list(std::vector<double> numbers) { return PerClient(std::move(numbers)); }

  // A client's epsilon after so many rounds under the policy.
  double cost(const PrivacyPolicy& policy, std::int64_t client, std::int64_t rounds) const {
    return *odometer_reading(BegunRun(everyone(policy), rounds).ledger().charged(client));
  }
  // That pay for 2, 4, 3 and all of six rounds.
  PrivacyPolicy with_staggered_budgets(const PrivacyPolicy& policy) const {
    return with_budget(policy,
                       list({cost(policy, 0, 2), 1.01 * cost(policy, 1, 4), cost(policy, 2, 3), 1e6}));
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
    const PrivacyPolicy limited = with_staggered_budgets(policy);
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
      const double budget = accounting(limited).budget.of(client);
      EXPECT_LE(*odometer_reading(simulation.ledger().charged(client)), budget);
    }
  }
}

TEST_F(OwnBudgets, EndInRoundsThatDataLeaveOutAsTheyWouldHave) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(messages_hidden())}) {
    const PrivacyPolicy limited = with_staggered_budgets(policy);
    BegunRun stopped(everyone(limited), 1);
    stopped.charge_rest();
    EXPECT_THAT(participations(stopped), ElementsAre(2, 4, 3, 6));
    EXPECT_THAT(stopped.spent(), ElementsAre(0, 1, 2));
    ResumedRun again(everyone(limited), stopped);
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
  BegunRun simulation(everyone(with_budget(policy, list({budget, 1e6, 1e6, 1e6}))), 2);
  algorithm.on_aggregate = [&](Server&, const Uplink& uplink) { EXPECT_EQ(uplink.size(), 3); };
  const results::RoundRecord third = simulation.next_round();
  EXPECT_EQ(third.clients, 3);
  EXPECT_THAT(simulation.spent(), ElementsAre(0));
  // Though the next round would be cheap again.
  EXPECT_EQ(simulation.next_round().clients, 3);
  EXPECT_THAT(participations(simulation), ElementsAre(2, 4, 4, 4));
}

// The round is none, and who could not pay for it has spent a budget all the same.
TEST_F(OwnBudgets, AreSpentByARoundThatNobodyCouldPayFor) {
  algorithm.steps = 2;
  const PrivacyPolicy policy = records_hidden();
  std::vector<double> budgets;
  for (std::int64_t client = 0; client < 4; ++client) budgets.push_back(cost(policy, client, 3));
  algorithm.steps_in = [](std::int64_t round) { return round == 3 ? 50 : 2; };
  Simulation simulation(everyone(with_budget(policy, list(budgets))));
  EXPECT_EQ(rounds_of(simulation), 2);
  EXPECT_THAT(simulation.spent(), ElementsAre(0, 1, 2, 3));
}

// Of its first round, too: no other one tells what it would have asked for, had it been answered otherwise.
TEST_F(OwnBudgets, ChargeTheBudgetWhereAFirstAnswerIsDropped) {
  algorithm.steps = 2;
  const PrivacyPolicy policy = records_hidden();
  const double budget = cost(policy, 0, 3);
  algorithm.on_train = [](Client& client) {
    Stream unused({.seed = 1});
    if (client.id != 0) return;
    take_gradients(client, 5, 50);
    const torch::Tensor zeros = torch::zeros(client.model.input_shape(1000), client.model.options());
    client.compute.gradient(client.model.initial(unused), {zeros, torch::zeros({1000}, torch::kInt64)});
  };
  Simulation simulation(everyone(with_budget(policy, list({budget, 1e6, 1e6, 1e6}))));
  const results::RoundRecord round = simulation.next_round();
  EXPECT_EQ(round.clients, 3);
  EXPECT_EQ(round.cost.gradients, round.examples) << "how much was computed from what is dropped is not told";
  EXPECT_TRUE(round.cost.at_least);
  EXPECT_THAT(participations(simulation), ElementsAre(0, 1, 1, 1));
  EXPECT_TRUE(simulation.ledger().varies(0));
  EXPECT_FALSE(simulation.ledger().varies(1));
}

// Unless it was planned: then the client does not even work.
TEST_F(OwnBudgets, LeaveOutBeforeTheWorkWhosePlanIsTooDear) {
  algorithm.steps = 2;
  const PrivacyPolicy policy = records_hidden();
  const double budget = cost(policy, 0, 3);
  algorithm.steps_in = [](std::int64_t round) { return round == 2 ? 50 : 2; };
  algorithm.plan = [](const Client& client) {
    return AccessPlan{.gradients = {{5, client.round == 2 ? 50 : 2}}};
  };
  Simulation simulation(everyone(with_budget(policy, list({budget, 1e6, 1e6, 1e6}))));
  algorithm.trained = 0;
  EXPECT_EQ(rounds_of(simulation), 6);
  EXPECT_EQ(algorithm.trained, 4 + 5 * 3);
  EXPECT_THAT(participations(simulation), ElementsAre(1, 6, 6, 6));
  EXPECT_FALSE(simulation.ledger().varies(0));

  Simulation none(everyone(with_budget(policy, list({1e-6, 1e-5}))));
  algorithm.trained = 0;
  EXPECT_THAT(refused_round(none), HasSubstr("no client's budget pays for a single round"));
  EXPECT_EQ(algorithm.trained, 0);
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
        ResumedRun again(setup, whole);
        EXPECT_EQ(again.spent(), whole.spent());
        whole.next_round();
        again.next_round();
        EXPECT_EQ(again.save(), whole.save());
      }
    }
  }
}

// Also where the cohorts are so small that the run ends before everybody was drawn.
TEST_F(OwnBudgets, UnderWhichNobodyTrainsAreAnError) {
  for (const bool planned : {true, false}) {
    if (planned) algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
    for (std::int64_t rounds = 1; rounds < 9; ++rounds) {
      Simulation simulation(setup_on(pool, rounds, 1, with_budget(records_hidden(), list({1e-6, 1e-5}))));
      const auto run = [&] {
        while (!simulation.finished()) EXPECT_EQ(simulation.next_round().clients, 0);
      };
      EXPECT_THAT(message_of(run),
                  AllOf(testing::AnyOf(HasSubstr("no client's budget pays for a single round"),
                                       HasSubstr("seed 4 draws no client in ")),
                        HasSubstr("Raise noise_multiplier")))
          << rounds;
    }
  }
  // A dry run finds it before any work.
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  Simulation all(everyone(with_budget(records_hidden(), list({1e-6, 1e-5}))));
  expect_refused("no client's budget pays for a single round", [&] { all.check_next_round(); });
  Simulation two(setup_on(pool, 2, 1, with_budget(records_hidden(), list({1e-6, 1e-5}))));
  expect_refused("seed 4 draws no client in 2 rounds whose budget pays for a single one",
                 [&] { two.check_next_round(); });
}

TEST_F(OwnBudgets, AreToldToTheClients) {
  std::map<std::int64_t, double> told;
  algorithm.on_train = [&](Client& client) { told[client.id] = client.budget; };
  Simulation(everyone(with_budget(records_hidden(), list({1e6, 2e6, 3e6})))).next_round();
  EXPECT_THAT(told, ElementsAre(std::pair(0, 1e6), std::pair(1, 2e6), std::pair(2, 3e6), std::pair(3, 1e6)));
}

// Each client's noise is its own, and its ledger entries say so.
TEST_F(OwnBudgets, AndNoiseMayDifferByClient) {
  RecordPolicy record = records_hidden();
  LocalPolicy local = messages_hidden();
  record.noise_multiplier = local.noise_multiplier = list({1, 2, 4});
  BegunRun of_records(everyone(record), 1), of_messages(everyone(local), 1);
  for (std::int64_t client = 0; client < 4; ++client) {
    const double noise = std::vector<double>{1, 2, 4, 1}[static_cast<std::size_t>(client)];
    const auto event_of = [&](const Simulation& simulation) {
      return simulation.ledger().clients().at(client).segments.at(0).accesses.at(0).event;
    };
    EXPECT_THAT(std::get<SampledGaussian>(event_of(of_records)).noise_multipliers, ElementsAre(noise));
    EXPECT_EQ(std::get<Gaussian>(event_of(of_messages)).noise_multiplier, noise);
  }
}

}  // namespace
}  // namespace fedarena
