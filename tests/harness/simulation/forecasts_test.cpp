// What a run will cost, told before anybody works.
#include <cstdint>
#include <set>
#include <vector>

#include "tests/harness/simulation/budgets.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

using Forecasts = PrivateRuns;

// Nobody has worked yet, and the odometer will say the same of the ledger.
TEST_F(Forecasts, TellWhatTheLedgerWillHold) {
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  std::vector<PrivacyPolicy> policies = private_policies();
  policies.emplace_back(labels_hidden());
  RecordPolicy own_noise = records_hidden();
  own_noise.noise_multiplier = PerClient(std::vector{0.7, 3.0});
  policies.insert(policies.end(), {own_noise, with_budget(records_hidden(), 9),
                                   with_budget(records_hidden(), PerClient({8.0, 1e3}))});
  for (const PrivacyPolicy& policy : policies) {
    SCOPED_TRACE(policy.index());
    Simulation run(setup(policy));
    const Forecast forecast = run.forecast();
    EXPECT_EQ(algorithm.trained.exchange(0), 0);
    try {
      while (!run.finished()) run.next_round();
    } catch (const BudgetSpent&) {  // as was foreseen
    }
    EXPECT_TRUE(forecast.complete);
    EXPECT_EQ(forecast.rounds, run.rounds_done());
    EXPECT_EQ(forecast.epsilon, odometer_reading(run.ledger()));
    algorithm.trained = 0;
  }
}

// What clients declare for each round counts, not what rounds before it cost.
class ForecastsOfMessages : public PrivateRuns {
 protected:
  // Rounds of a run of six that have messages; those from `undeclared` on declare nothing.
  SimulationSetup run_of(const std::set<std::int64_t>& speaking, double budget, std::int64_t undeclared = 7) {
    algorithm.entries = [=](std::int64_t round) -> std::vector<UplinkEntry> {
      if (round >= undeclared) throw Error::of("synthetic images");
      return speaking.contains(round) ? std::vector<UplinkEntry>{kUpdate} : std::vector<UplinkEntry>();
    };
    algorithm.on_send = [=](Client& client, Message& uplink) {
      uplink = speaking.contains(client.round) ? Message{{kUpdate, uplink[kUpdate]}} : Message();
    };
    algorithm.on_aggregate = [=](Server& server, const Uplink& uplink) {
      if (speaking.contains(server.round)) server.params += uplink.mean(kUpdate);
    };
    return setup_on(pool, 6, 4, with_budget(clients_hidden(), budget));
  }
};

TEST_F(ForecastsOfMessages, AreThoseOfEachRound) {
  using Rounds = std::set<std::int64_t>;
  for (const Rounds& speaking : {Rounds{3, 4, 5, 6}, Rounds{1, 2, 3}, Rounds{1, 2, 5, 6}, Rounds{2, 4}}) {
    Simulation run(run_of(speaking, 0));
    const Forecast forecast = run.forecast();
    while (!run.finished()) run.next_round();
    EXPECT_EQ(forecast.epsilon, odometer_reading(run.ledger())) << *speaking.begin();
    // Nobody works for a round that the budget does not pay for.
    const double budget = *odometer_reading(run.ledger()) * 0.999;
    Simulation limited(run_of(speaking, budget));
    const std::int64_t paid = limited.forecast().rounds;
    EXPECT_EQ(paid, *speaking.rbegin() - 1);
    algorithm.trained = 0;
    for (std::int64_t round = 1; round <= paid; ++round) limited.next_round();
    const int trained = algorithm.trained;
    EXPECT_THROW(limited.next_round(), BudgetSpent);
    EXPECT_EQ(algorithm.trained, trained);
    EXPECT_LE(*odometer_reading(limited.ledger()), budget);
  }
  EXPECT_EQ(Simulation(run_of({1, 2, 3, 4, 5, 6}, 0, 5)).forecast().epsilon, kInfinity);
}

// Of rounds that a budget pays for there are then some, and not all.
TEST_F(Forecasts, CountTheRoundsThatABudgetPaysFor) {
  algorithm.plan = [](const Client&) { return AccessPlan{.gradients = {{5, 4}}}; };
  Simulation all(setup(records_hidden()));
  const double budget = 0.9 * *all.forecast().epsilon;
  Simulation run(setup(with_budget(records_hidden(), budget)));
  const Forecast forecast = run.forecast();
  EXPECT_GT(forecast.rounds, 0);
  EXPECT_LT(forecast.rounds, all.forecast().rounds);
  EXPECT_LE(*forecast.epsilon, budget);
}

TEST_F(Forecasts, FollowHowOftenAClientTookPart) {
  algorithm.plan = [](const Client& client) {
    EXPECT_TRUE(client.state.entries().empty()) << "answers decided on it";
    return AccessPlan{.gradients = {{5, client.participations == 0 ? 4 : 1}}};
  };
  algorithm.steps = 0;
  algorithm.on_train = [](Client& client) { take_gradients(client, 5, client.participations == 0 ? 4 : 1); };
  Simulation run(setup(records_hidden()));
  const Forecast forecast = run.forecast();
  while (!run.finished()) run.next_round();
  EXPECT_EQ(forecast.epsilon, odometer_reading(run.ledger()));
  algorithm.plan = nullptr;
  EXPECT_FALSE(Simulation(setup(records_hidden())).forecast().complete) << "nobody says what will be asked";
}

// How far they will lie apart decides nothing where no mechanism bounds a message.
TEST_F(Forecasts, SayWhatMessagesCostAroundAnyCentres) {
  algorithm.on_centres = [](const Message& downlink) {
    return std::vector<Params>{downlink[kModel], 2 * downlink[kModel]};
  };
  algorithm.entries = [](std::int64_t) { return std::vector<UplinkEntry>{kUpdate}; };
  LocalPolicy policy = messages_hidden();
  EXPECT_FALSE(Simulation(setup(policy)).forecast().complete);
  policy.mechanism = kLocalRelative;
  const Forecast relative = Simulation(setup(policy)).forecast();
  EXPECT_TRUE(relative.complete);
  EXPECT_EQ(relative.epsilon, kInfinity);
  policy.mechanism = kLocalLaplace;
  policy.clip_norm = 0;
  const Forecast metric = Simulation(setup(policy)).forecast();
  EXPECT_TRUE(metric.complete);
  EXPECT_FALSE(metric.epsilon) << "unproven";
}

}  // namespace
}  // namespace fedarena
