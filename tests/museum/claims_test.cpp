// Exhibit 1: noise calibrated for a population that is not there.
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/calibration.hpp"
#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "harness/runner/run_experiment.hpp"
#include "results/audit/audited_run.hpp"
#include "results/table/table.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kSimulatedRounds = 1'500, kSimulatedClients = 1'000, kSimulatedCohort = 50;
constexpr std::int64_t kAsIfClients = 1'000'000, kAsIfCohort = 1'000;
constexpr double kAsIfDelta = 1e-6;

// The noise that makes 1,500 rounds of 1,000 out of a million clients cost epsilon 2.
double promised_noise() {
  const Solution solution = calibrate({.rate = static_cast<double>(kAsIfCohort) / kAsIfClients,
                                       .steps = kSimulatedRounds,
                                       .delta = kAsIfDelta,
                                       .epsilon = 2},
                                      epsilon_by_rdp(rdp_orders("default")));
  return solution.setting.noise_multiplier;
}

Account account_of(const ClientPolicy& policy) {
  const Federation federation(std::vector<std::int64_t>(kSimulatedClients, 1));
  const Exhibit algorithm;
  SimulationSetup setup = federation.setup(algorithm, policy, kSimulatedRounds);
  setup.cohort_size = kSimulatedCohort;
  Simulation simulation(setup);
  const double shown_after_the_last_round = finish(simulation);
  Account result = account(simulation.ledger(), policy);
  EXPECT_DOUBLE_EQ(shown_after_the_last_round, result.rdp.epsilon.value());
  return result;
}

ClientPolicy policy_with_promised_noise() {
  ClientPolicy policy;
  policy.delta = kAsIfDelta;
  policy.noise_multiplier = promised_noise();
  return policy;
}

TEST(AsIfNoise, IsReportedBesideWhatTheSimulationSpent) {
  ClientPolicy policy = policy_with_promised_noise();
  EXPECT_NEAR(policy.noise_multiplier.number(), 0.7138, 1e-4);
  policy.as_if_cohort = kAsIfCohort;
  policy.as_if_population = kAsIfClients;
  const Account account = account_of(policy);
  EXPECT_NEAR(account.as_if_rdp.value().epsilon.value(), 2, 1e-9);
  EXPECT_LT(account.as_if_pld.value().epsilon.value(), 2);
  EXPECT_NEAR(account.rdp.epsilon.value(), 4.9085e4, 1);
  EXPECT_NEAR(account.pld.epsilon.value(), 4.60e4, 50);
}

// Also with the full noise, fifty of a thousand clients are far from epsilon 2.
TEST(AsIfNoise, WouldNotCoverTheSimulationUnscaledEither) {
  const Account account = account_of(policy_with_promised_noise());
  EXPECT_FALSE(account.as_if_rdp.has_value());
  EXPECT_NEAR(account.rdp.epsilon.value(), 34.6, 0.05);
}

// Exhibit 2: an estimate in the place of an upper bound.

struct PublishedEpsilon {
  double rate, noise_multiplier;
  std::int64_t steps;
  double delta;
  double exact;  // by high-precision integration; last digits rounded down

  Access access() const {
    return {SampledGaussian{Sampling::kPoisson, rate, {noise_multiplier}, Adjacency::kZeroOut}, steps};
  }
};

// The lower four are among those of which published accountants state less than the truth.
const std::vector<PublishedEpsilon> kPublished{
    {0.0256, 1, 200, 1e-5, 2.3838992280945},      {0.0256, 1, 5'800, 1e-5, 13.8443416063654},
    {0.002353, 4.17, 21'614, 1e-4, 0.2277686382}, {0.9, 1, 1'000, 1e-6, 548.190359721806},
    {0.2651, 1.52, 188, 1e-7, 17.5406796888450},  {0.08625, 5.19, 14'548, 1e-8, 12.9603720506813},
    {0.135, 1.53, 892, 1e-9, 22.1509146749492},   {0.04939, 3.38, 19'648, 1e-10, 15.1271691728664}};

TEST(Estimates, AreNeverWhatPldReturns) {
  for (const PublishedEpsilon& published : kPublished) {
    for (const double wanted : {0.05, 1e-3}) {
      const PldEpsilon epsilon = pld_epsilon(std::vector{published.access()}, published.delta,
                                             {.relative_error = wanted, .lower_bound = true});
      EXPECT_GE(epsilon.upper, published.exact);
      EXPECT_LE(epsilon.upper, published.exact * (1 + wanted) + 1e-9);
      EXPECT_LE(epsilon.lower.value(), published.exact * (1 + 1e-9));
    }
  }
}

TEST(Estimates, AreNotWhatARunClaims) {
  for (const PublishedEpsilon& published : kPublished) {
    Ledger ledger(Unit::kClient);
    ledger.record_population(1, RoundAccesses({published.access()}));
    const Account claimed = account(ledger, {.delta = published.delta});
    EXPECT_GE(claimed.pld.epsilon.value(), published.exact);
    EXPECT_GE(claimed.rdp.epsilon.value(), published.exact);
  }
}

// Exhibit 5: the classic Gaussian formula outside its theorem, for one round, never composed.

constexpr double kClassicDelta = 1e-5;

// Dwork and Roth 2014, Theorem A.1, which holds for epsilon in (0, 1).
double classic_noise(double epsilon) { return std::sqrt(2 * std::log(1.25 / kClassicDelta)) / epsilon; }

Claim pld_after(std::int64_t rounds, double noise_multiplier) {
  const Federation federation({5, 5, 5});
  const Exhibit algorithm;
  ClientPolicy policy;
  policy.noise_multiplier = noise_multiplier;
  policy.delta = kClassicDelta;
  Simulation simulation(federation.setup(algorithm, policy, rounds));
  const double by_rdp = finish(simulation);
  Claim pld = account(simulation.ledger(), policy).pld;
  EXPECT_GE(by_rdp, pld.epsilon.value());
  return pld;
}

TEST(ClassicGaussian, IsNotBelievedBeyondEpsilonOne) {
  for (const double nominal : {10.0, 20.0, 50.0}) {
    const double noise_multiplier = classic_noise(nominal);
    const double epsilon = pld_after(1, noise_multiplier).epsilon.value();
    EXPECT_GT(epsilon, nominal);
    EXPECT_NEAR(epsilon, gaussian_epsilon(kClassicDelta, noise_multiplier), 1e-6 * epsilon);
  }
}

TEST(ClassicGaussian, IsComposedOverRounds) {
  constexpr double kNominal = 1;
  const double noise_multiplier = classic_noise(kNominal);
  EXPECT_LT(pld_after(1, noise_multiplier).epsilon.value(), kNominal);
  const double after = pld_after(100, noise_multiplier).epsilon.value();
  EXPECT_NEAR(after, gaussian_epsilon(kClassicDelta, noise_multiplier / 10), 1e-6 * after);
  EXPECT_GT(after, 9 * kNominal);
}

// Exhibit 16b: a target epsilon in the configuration that the run ignores.

std::string refusal_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return message_of([&] { grid_of(text, overrides); });
}

TEST(StatedEpsilon, CannotBeWritten) {
  for (const std::string line :
       {"epsilon = 10\n", "target_epsilon = 10\n", "noise_multiplier = 1\nepsilon = 10\n",
        "noise_multiplier = 1\ntarget_epsilon = 10\n"}) {
    const std::string own = experiment_text() + "[algorithms.privacy]\n" + line;
    for (const std::string& text : {experiment_text(line), own, experiment_text() + line}) {
      EXPECT_THAT(refusal_of(text), StartsWith("museum.toml:"));
      EXPECT_THAT(refusal_of(text), HasSubstr("unknown key")) << text;
    }
  }
  for (const std::string where : {"privacy", "experiment", "training", "algorithms.dp-fedprox.privacy"}) {
    EXPECT_THAT(refusal_of(experiment_text(), {where + ".epsilon=10"}),
                HasSubstr("the ledger computes epsilon; no file can state it"));
    EXPECT_THAT(refusal_of(experiment_text(), {where + ".target_epsilon=10"}), HasSubstr("unknown key"));
  }
}

// The shipped settings: 5,850 steps at rate 0.0256 under noise multiplier 1 are far beyond the target of 10.
TEST(StatedEpsilon, IsReplacedByThatOfTheLedger) {
  constexpr std::int64_t kExamples = 1'250, kBatch = 32, kStepsOfARound = 195, kRounds = 30;
  const Federation federation({kExamples});
  const Exhibit algorithm(sgd(5, kBatch));
  Simulation simulation(federation.setup(algorithm, RecordPolicy()));
  simulation.next_round();
  const Event step = simulation.ledger().charged(0).at(0).event;
  EXPECT_EQ(step, Event(SampledGaussian{Sampling::kPoisson, 0.0256, {1}, Adjacency::kZeroOut}));
  Ledger shipped(Unit::kRecord);
  shipped.add_client(0, kExamples);
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    shipped.record(round, 0, RoundAccesses({{step, kStepsOfARound}}));
  }
  EXPECT_EQ(shipped.charged(0).at(0).count, 5'850);
  const Account claimed = account(shipped, {.delta = 1e-5, .orders = "opacus"});
  EXPECT_NEAR(claimed.rdp.epsilon.value(), 15.0, 0.05);
  EXPECT_GT(claimed.pld.epsilon.value(), 13.8);
}

// Exhibit 20: a run that ends when its results say so, under the epsilon of the rounds that it made.

results::Table table_of(std::int64_t rounds, const std::vector<std::string>& rule = {}) {
  std::vector<std::string> overrides = {"experiment.seeds=[1]", "evaluation.validation_fraction=0.1",
                                        fmt::format("experiment.rounds={}", rounds)};
  overrides.insert(overrides.end(), rule.begin(), rule.end());
  const Scratch scratch;
  const std::atomic<bool> stop = false;
  EXPECT_TRUE(run_cells(plan_cells(grid_of(experiment_text(), overrides), {"dp-fedavg"}), plugins(),
                        {.out = scratch / "out"}, stop));
  const std::vector<results::FoundRun> runs = results::find_runs(std::vector{scratch / "out"});
  for (const results::FoundRun& run : runs) {
    for (const results::Verification& verified :
         {results::verify_seal(run), results::verify_run(run.path), results::verify_ledger(run.path)}) {
      for (const results::Difference& difference : verified.differences)
        ADD_FAILURE() << results::describe(difference);
    }
  }
  return results::make_table(runs);
}

TEST(EpsilonOfAStop, IsThatOfThePlan) {
  // Nothing improves by 90 points after the first round.
  const results::Table stopped =
      table_of(6, {"evaluation.every=1", "stopping.patience=1", "stopping.improvement=0.9"});
  const results::PrivacyClaim claim = stopped.rows.at(0).privacy.value();
  const results::PrivacyClaim whole = table_of(6).rows.at(0).privacy.value();
  const results::PrivacyClaim made = table_of(2).rows.at(0).privacy.value();
  EXPECT_DOUBLE_EQ(claim.rdp.value().epsilon.value(), whole.rdp.value().epsilon.value());
  EXPECT_DOUBLE_EQ(claim.pld.value().epsilon.value(), whole.pld.value().epsilon.value());
  EXPECT_EQ(claim.made_rdp, made.rdp);
  EXPECT_LT(made.rdp.value().epsilon.value(), whole.rdp.value().epsilon.value());
  EXPECT_THAT(stopped.notes, ::testing::Contains(HasSubstr("epsilon charges for all that was planned")));
}

// All rounds that a budget pays for were planned; it would have ended the run before the others in any case.
TEST(EpsilonOfAStop, IsThatOfThePlanAsFarAsTheBudgetPays) {
  const auto table_under = [](double budget) {
    return table_of(6, {"evaluation.every=1", "stopping.patience=1", "stopping.improvement=0.9",
                        fmt::format("privacy.budget={}", budget)});
  };
  const auto epsilon_of = [](const results::Table& table) {
    return table.rows.at(0).privacy.value().rdp.value().epsilon.value();
  };
  const double whole = epsilon_of(table_of(6)), made = epsilon_of(table_of(2)), between = (whole + made) / 2;
  double paid = made;
  for (const std::int64_t rounds : {3, 4, 5}) {
    if (const double epsilon = epsilon_of(table_of(rounds)); epsilon <= between) paid = epsilon;
  }
  ASSERT_GT(paid, made);
  EXPECT_DOUBLE_EQ(epsilon_of(table_under(2 * whole)), whole);
  EXPECT_DOUBLE_EQ(epsilon_of(table_under(between)), paid);
}

}  // namespace
}  // namespace fedarena
