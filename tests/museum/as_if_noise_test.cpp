// Exhibit 1: noise calibrated for a population that is not there.
#include <gtest/gtest.h>

#include "fedarena/accounting/calibration.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "tests/museum/exhibits.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kAsIfNoiseRounds = 1'500, kClients = 1'000, kCohort = 50;
constexpr std::int64_t kAsIfClients = 1'000'000, kAsIfCohort = 1'000;
constexpr double kAsIfNoiseDelta = 1e-6;

// The noise that makes 1,500 rounds of 1,000 out of a million clients cost epsilon 2.
double promised_noise() {
  const Solution solution = calibrate({.rate = static_cast<double>(kAsIfCohort) / kAsIfClients,
                                       .steps = kAsIfNoiseRounds,
                                       .delta = kAsIfNoiseDelta,
                                       .epsilon = 2},
                                      epsilon_by_rdp(rdp_orders("default")));
  return solution.setting.noise_multiplier;
}

Account account_of(const ClientPolicy& policy) {
  const Federation federation(std::vector<std::int64_t>(kClients, 1));
  const Exhibit algorithm;
  SimulationSetup setup = federation.setup(algorithm, policy, kAsIfNoiseRounds);
  setup.cohort_size = kCohort;
  Simulation simulation(setup);
  const double shown_after_the_last_round = finish(simulation);
  Account result = account(simulation.ledger(), policy);
  EXPECT_DOUBLE_EQ(shown_after_the_last_round, result.rdp.epsilon.value());
  return result;
}

ClientPolicy policy_with_promised_noise() {
  ClientPolicy policy;
  policy.delta = kAsIfNoiseDelta;
  policy.noise_multiplier = promised_noise();
  return policy;
}

TEST(AsIfNoise, IsReportedBesideWhatTheSimulationSpent) {
  ClientPolicy policy = policy_with_promised_noise();
  EXPECT_NEAR(policy.noise_multiplier, 0.7138, 1e-4);
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

}  // namespace
}  // namespace fedarena
