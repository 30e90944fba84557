#include "fedarena/accounting/odometer.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/accounting/samples.hpp"

namespace fedarena {
namespace {

SampledGaussian poisson(double rate, double noise) { return {Sampling::kPoisson, rate, {noise}, {}}; }

RoundAccesses steps(const Event& event, std::int64_t count) { return RoundAccesses({{event, count}}); }

double epsilon_of(const Ledger& ledger, const AccountSettings& settings = {}) {
  return Odometer(settings).epsilon(ledger).epsilon.value();
}

// Two clients of different shards, so that their batches have different rates.
Ledger two_clients(Unit unit = Unit::kRecord) {
  Ledger ledger(unit);
  ledger.add_client(0, 6'000);
  ledger.add_client(1, 2'500);
  return ledger;
}

TEST(Odometer, ReadsZeroBeforeTheFirstRound) {
  EXPECT_EQ(epsilon_of(two_clients()), 0);
  EXPECT_EQ(epsilon_of(two_clients(Unit::kClient)), 0);
}

TEST(Odometer, ReadsNothingWithoutAClaim) {
  EXPECT_FALSE(Odometer(AccountSettings()).epsilon(two_clients(Unit::kNothing)).epsilon.has_value());
}

// A published setting: batches of 64 in 2,500 at noise multiplier 1, delta 1e-5: epsilon 2.7866 after 200
// steps.
TEST(Odometer, ReadsTheEpsilonOfTheMostExposedClient) {
  Ledger ledger = two_clients();
  ledger.record(1, 0, steps(poisson(64.0 / 6'000, 1), 200));
  const double first = epsilon_of(ledger, {.orders = "opacus"});
  ledger.record(1, 1, steps(poisson(64.0 / 2'500, 1), 200));
  EXPECT_NEAR(epsilon_of(ledger, {.orders = "opacus"}), 2.7866, 5e-5);
  EXPECT_LT(first, 2);
}

TEST(Odometer, GrowsWithEveryRoundAsTheLedgerDoes) {
  const Odometer odometer{AccountSettings()};
  Ledger ledger = two_clients();
  double last = 0;
  for (std::int64_t round = 1; round <= 20; ++round) {
    ledger.record(round, 1, steps(poisson(0.02, round % 5 == 0 ? 0.9 : 1.2), 10));
    const double now = odometer.epsilon(ledger).epsilon.value();
    EXPECT_GT(now, last) << "round " << round;
    // What was asked before leaves no trace.
    EXPECT_EQ(now, epsilon_of(ledger)) << "round " << round;
    last = now;
  }
}

TEST(Odometer, SaysWhatTheAccountSays) {
  Ledger ledger = two_clients();
  for (std::int64_t round = 1; round <= 3; ++round) {
    ledger.record(round, 0, steps(poisson(0.01, 1), 20));
    ledger.record(round, 1, steps(poisson(0.03, 1.5), 7));
  }
  for (const std::string conversion : {"balle", "classic"}) {
    for (const std::string orders : {"default", "opacus"}) {
      const AccountSettings settings{.delta = 1e-6, .orders = orders, .conversion = conversion};
      EXPECT_DOUBLE_EQ(epsilon_of(ledger, settings), account(ledger, settings).rdp.epsilon.value());
    }
  }
}

TEST(Odometer, ChargesClientsForThePopulation) {
  Ledger ledger = two_clients(Unit::kClient);
  ledger.record(1, 0, accesses({{"gradient", 5}}));
  EXPECT_EQ(epsilon_of(ledger), 0);
  ledger.record_population(1, steps(poisson(0.1, 2), 1));
  const double once = epsilon_of(ledger);
  EXPECT_GT(once, 0);
  ledger.record_population(2, steps(poisson(0.1, 2), 1));
  EXPECT_GT(epsilon_of(ledger), once);
}

TEST(Odometer, ReadsInfinityAfterAnExactAccess) {
  Ledger ledger = two_clients();
  ledger.record(1, 0, steps(poisson(0.01, 1), 1));
  ledger.record(1, 1, accesses({{"loss", 1}}));
  EXPECT_EQ(epsilon_of(ledger), std::numeric_limits<double>::infinity());
}

TEST(Odometer, SaysWhatNobodyHasProven) {
  const SampledGaussian fixed{Sampling::kWithoutReplacement, 0.1, {1}, Adjacency::kAddRemove};
  Ledger ledger = two_clients();
  ledger.record(1, 0, steps(fixed, 1));
  const Claim claim = Odometer(AccountSettings()).epsilon(ledger);
  EXPECT_FALSE(claim.epsilon.has_value());
  EXPECT_FALSE(claim.unproven.empty());
  Ledger as_poisson = two_clients();
  as_poisson.record(1, 0, steps(poisson(0.1, 1), 1));
  EXPECT_EQ(epsilon_of(ledger, {.assume = "poisson"}), epsilon_of(as_poisson));
}

TEST(Odometer, RefusesSettingsThatNoAccountantKnows) {
  EXPECT_THROW(Odometer({.orders = "opacuss"}), Error);
  EXPECT_THROW(Odometer({.conversion = "bale"}), Error);
}

}  // namespace
}  // namespace fedarena
