#include "fedarena/accounting/account.hpp"

#include <cmath>
#include <string>

#include "fedarena/accounting/metric.hpp"
#include "fedarena/accounting/odometer.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"

#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

const AccountSettings kOpacus{.delta = 1e-5, .orders = "opacus"};

RoundAccesses times(const Event& event, std::int64_t count = 1) { return RoundAccesses({{event, count}}); }

// A ledger whose clients made these accesses in round 1.
Ledger records(const std::vector<RoundAccesses>& clients, Unit unit = Unit::kRecord) {
  Ledger ledger = idle_ledger(unit, std::ssize(clients));
  for (std::int64_t client = 0; client < std::ssize(clients); ++client) {
    const RoundAccesses& made = clients[static_cast<std::size_t>(client)];
    if (!made.list().empty()) ledger.record(1, client, made);
  }
  return ledger;
}

// Clients under the policy "local", each of which sent through these mechanisms in round 1.
Ledger messages(const std::vector<RoundAccesses>& clients) { return records(clients, Unit::kLocal); }

// What the account says, and the odometer at any time.
Account account_of(const Ledger& ledger, const AccountSettings& settings) {
  Account result = account(ledger, settings);
  EXPECT_EQ(Odometer(settings).epsilon(ledger), result.rdp);
  return result;
}

// PROTOCOLS.md, private run: 2.7866 for one round, 3.6737 for two.
TEST(Account, AgreesWithThePaper) {
  Ledger ledger = idle_ledger(Unit::kRecord, 2);
  for (std::int64_t round = 1; round <= 2; ++round) ledger.record(round, 0, times(poisson(0.0256, 1), 200));
  ledger.record(1, 1, times(poisson(0.0256, 1), 200));
  const Account result = account_of(ledger, kOpacus);
  ASSERT_EQ(result.clients.size(), 2U);
  EXPECT_NEAR(*result.clients[0].rdp.epsilon, 3.6737, 5e-5);
  EXPECT_NEAR(*result.clients[1].rdp.epsilon, 2.7866, 5e-5);
  EXPECT_GT(result.clients[0].order, 1);
  EXPECT_EQ(result.rdp, result.clients[0].rdp);
  EXPECT_LT(*result.pld.epsilon, *result.rdp.epsilon);
  EXPECT_GT(*result.pld.epsilon, 0.5 * *result.rdp.epsilon);
  EXPECT_EQ(result.unit, Unit::kRecord);
  EXPECT_EQ(result.adjacency, Adjacency::kAddRemove);
  EXPECT_FALSE(result.as_if_rdp);
  EXPECT_FALSE(result.as_if_pld);
}

// A plan lists what was made of it in another order, and a forecast counts rounds one by one; a budget that
// is just what they cost must pay for them.
TEST(Account, IsTheSameToTheLastDigitHoweverItsAccessesAreListed) {
  const SampledGaussian batch{Sampling::kPoisson, 0.0137, {1.37}, Adjacency::kZeroOut};
  const SampledGaussian whole{Sampling::kPoisson, 1, {1.37}, Adjacency::kZeroOut};
  const Odometer odometer({.delta = 1e-5});
  for (std::int64_t rounds = 2; rounds < 12; ++rounds) {
    const std::vector<Access> at_once{{batch, 15 * rounds}, {whole, rounds}};
    const std::vector<Access> turned{{whole, rounds}, {batch, 15 * rounds}};
    std::vector<Access> one_by_one;
    for (std::int64_t round = 0; round < rounds; ++round) {
      one_by_one.push_back({batch, 15});
      one_by_one.push_back({whole, 1});
    }
    for (const auto& other : {turned, one_by_one}) {
      EXPECT_EQ(odometer.epsilon(other).epsilon, odometer.epsilon(at_once).epsilon) << rounds;
      EXPECT_EQ(pld_claim(other, {.delta = 1e-5}).epsilon, pld_claim(at_once, {.delta = 1e-5}).epsilon);
    }
  }
}

TEST(Account, OfMessagesIsThatOfTheClientWhoSentMost) {
  const Event sent = Gaussian{4, Adjacency::kReplaceOne};
  const Account result = account_of(messages({times(sent, 3), times(sent, 1), {}}), {});
  ASSERT_EQ(result.clients.size(), 3U);
  EXPECT_EQ(result.rdp, result.clients[0].rdp);
  EXPECT_LT(result.clients[1].rdp.epsilon, result.clients[0].rdp.epsilon);
  EXPECT_EQ(result.clients[2].rdp.epsilon, 0);
  EXPECT_EQ(result.adjacency, Adjacency::kReplaceOne);
  EXPECT_EQ(result.clients[1].rdp, account_of(messages({times(Gaussian{2}, 1)}), {}).rdp)
      << "twice as far apart";
}

// Of a domain bounded by clipping to C, at most 2 C apart, six messages of scale b cost 12 C / b.
TEST(Account, OfLaplaceOnABoundedDomainIsAtMostTheSumOfPureEpsilons) {
  const Account result = account_of(messages({times(Laplace{11, 2 * 0.5 / 10}, 6)}), {.delta = 1e-9});
  EXPECT_NEAR(*result.rdp.epsilon, 0.6, 1e-12);
  EXPECT_LE(*result.pld.epsilon, 0.6 * (1 + 2e-3));
  EXPECT_FALSE(result.per_distance);
}

TEST(Account, HasNoEpsilonForMetricPrivacyButAClaimPerUnitOfDistance) {
  const Account result = account_of(
      messages({times(MetricLaplace{2, 0.5}, 3),
                RoundAccesses(
                    {{MetricLaplace{2, 4}, 1}, {DeclaredPublic{"classes"}, 1}, {Nominal{"n/nu", 0.4}, 6}})}),
      {});
  EXPECT_FALSE(result.rdp.epsilon);
  EXPECT_EQ(result.rdp.unproven, "metric privacy has no epsilon without a distance");
  EXPECT_EQ(result.pld, result.rdp);
  EXPECT_DOUBLE_EQ(result.per_distance.value(), 6) << "additive, and the larger one of the clients'";
  EXPECT_EQ(result.clients.size(), 2U);
  // n / nu at n = 2, nu = 5, six times: 2.4, as published.
  EXPECT_NEAR(result.nominal.at("n/nu"), 2.4, 1e-12);
}

TEST(Account, ClaimsNothingPerDistanceBesideOtherAccesses) {
  const RoundAccesses metric({{MetricLaplace{2, 0.5}, 1}});
  EXPECT_EQ(per_distance(metric.list()), 2);
  for (const Event& other : {Event(ExactAccess{"messages"}), Event(Gaussian{1}), Event(Laplace{1, 1})}) {
    EXPECT_FALSE(per_distance({{MetricLaplace{2, 0.5}, 1}, {other, 1}})) << describe(other);
  }
  EXPECT_FALSE(per_distance({{DeclaredPublic{"classes"}, 1}}));
  EXPECT_EQ(per_distance({{Composition{{{MetricLaplace{2, 0.5}, 3}}}, 2}}), 12);
}

TEST(Account, TakesExactAccessesFirstBesideMetricOnes) {
  const Account result =
      account_of(messages({RoundAccesses({{MetricLaplace{2, 1}, 1}, {ExactAccess{"messages"}, 1}})}), {});
  EXPECT_EQ(result.rdp.epsilon, kInfinity);
  EXPECT_EQ(result.pld.epsilon, kInfinity);
  EXPECT_FALSE(result.per_distance);
}

TEST(Account, KeepsNominalNumbersOutOfEveryEpsilon) {
  const RoundAccesses plain({{Gaussian{1, Adjacency::kReplaceOne}, 2}});
  RoundAccesses nominal = plain;
  nominal.add(Nominal{"label epsilon", 8});
  const Account with = account_of(messages({nominal}), {}), without = account_of(messages({plain}), {});
  EXPECT_EQ(with.rdp, without.rdp);
  EXPECT_EQ(with.pld, without.pld);
  EXPECT_EQ(with.nominal, (std::map<std::string, double>{{"label epsilon", 8}}));
  EXPECT_EQ(nominal_sums({{Composition{{{Nominal{"label epsilon", 8}, 2}}}, 3}}).at("label epsilon"), 48);
}

// Whatever was skipped: the PLD claim is the maximum of all of them.
TEST(Account, PldIsTheLargestOfAllClients) {
  const Ledger ledger = records({times(poisson(0.02, 1), 50), times(poisson(0.01, 0.8), 20),
                                 times(Gaussian{.noise_multiplier = 3}), times(poisson(0.02, 1), 50),
                                 times(Laplace{.dimension = 1, .epsilon = 0.9})});
  const Account result = account_of(ledger, kOpacus);
  double rdp = 0;
  double pld = 0;
  for (const auto& [client, record] : ledger.clients()) {
    pld = std::max(pld, *pld_claim(ledger.charged(client), kOpacus).epsilon);
    rdp = std::max(rdp, *result.clients[static_cast<std::size_t>(client)].rdp.epsilon);
  }
  EXPECT_EQ(result.rdp.epsilon, rdp);
  EXPECT_EQ(result.pld.epsilon, pld);
  EXPECT_EQ(result.clients[0].rdp, result.clients[3].rdp);
}

TEST(Account, ChargesThePopulationWhenClientsAreTheUnit) {
  Ledger ledger = idle_ledger(Unit::kClient, 2);
  ledger.record(1, 0, times(ExactAccess{"gradient"}));
  EXPECT_EQ(account_of(ledger, kOpacus).rdp.epsilon, 0);
  ledger.record_population(1, times(poisson(0.1, 1)));
  ledger.record_as_if(1, times(poisson(0.001, 1)));
  const Account result = account_of(ledger, kOpacus);
  ASSERT_EQ(result.clients.size(), 1U);
  EXPECT_EQ(result.clients[0].client, -1);
  EXPECT_EQ(result.clients[0].rdp, result.rdp);
  EXPECT_EQ(result.pld, pld_claim({{poisson(0.1, 1), 1}}, kOpacus));
  EXPECT_LT(*result.as_if_rdp->epsilon, *result.rdp.epsilon);
  EXPECT_EQ(*result.as_if_pld, pld_claim({{poisson(0.001, 1), 1}}, kOpacus));
  ledger.record_population(2, times(poisson(0.1, 1)));
  EXPECT_GT(account_of(ledger, kOpacus).rdp.epsilon, result.rdp.epsilon);
  // What is not noised would be read of a larger population, too.
  ledger.record_population(2, times(ExactAccess{"messages"}));
  EXPECT_EQ(account_of(ledger, kOpacus).as_if_rdp->epsilon, kInfinity);
  EXPECT_EQ(account_of(ledger, kOpacus).as_if_pld->epsilon, kInfinity);
}

TEST(Account, AnExactAccessLeavesNothing) {
  for (const Event& exact :
       {Event(ExactAccess{"loss"}), Event(Composition{{{ExactAccess{"loss"}, 2}}}), Event(Gaussian{0})}) {
    const Account result = account_of(
        records({times(poisson(0.1, 1)), times(exact), times(fixed_size(0.1, 1, Adjacency::kAddRemove))}),
        kOpacus);
    EXPECT_EQ(result.rdp.epsilon, kInfinity);
    EXPECT_EQ(result.pld.epsilon, kInfinity);
    EXPECT_LT(*result.clients[0].rdp.epsilon, 5);
    EXPECT_EQ(result.clients[1].rdp.epsilon, kInfinity);
    EXPECT_EQ(result.clients[1].order, 0);
  }
}

TEST(Account, NoAccessCostsNothing) {
  const Account result = account_of(records({{}, {}}), kOpacus);
  EXPECT_EQ(result.rdp.epsilon, 0);
  EXPECT_EQ(result.pld.epsilon, 0);
  EXPECT_EQ(result.adjacency, std::nullopt);
  EXPECT_EQ(account_of(Ledger(Unit::kClient), kOpacus).rdp.epsilon, 0);
}

TEST(Account, WithoutAPolicyNothingIsClaimed) {
  Ledger ledger = idle_ledger(Unit::kNothing);
  ledger.record(1, 0, times(ExactAccess{"gradient"}));
  const Account result = account_of(ledger, kOpacus);
  EXPECT_EQ(result.rdp.epsilon, std::nullopt);
  EXPECT_THAT(result.rdp.unproven, HasSubstr("no privacy policy"));
  EXPECT_EQ(result.pld, result.rdp);
  EXPECT_THAT(result.clients, IsEmpty());
}

TEST(Account, ClaimsNoNumberForWhatIsUnproven) {
  const Ledger ledger = records({times(poisson(0.1, 1)), times(fixed_size(0.1, 1, Adjacency::kAddRemove))});
  const Account result = account_of(ledger, kOpacus);
  EXPECT_EQ(result.rdp.epsilon, std::nullopt);
  EXPECT_NE(result.rdp.unproven, "");
  EXPECT_EQ(result.pld.epsilon, std::nullopt);
  EXPECT_NE(result.pld.unproven, "");
  EXPECT_TRUE(result.clients[0].rdp.epsilon);
  EXPECT_FALSE(result.clients[1].rdp.epsilon);
  EXPECT_EQ(result.clients[1].order, 0);
}

TEST(Account, AssumesWhatItIsTold) {
  const AccountSettings assuming{.delta = 1e-5, .orders = "opacus", .assume = "poisson"};
  const Account result = account_of(records({times(fixed_size(0.1, 1, Adjacency::kAddRemove))}), assuming);
  EXPECT_EQ(result.rdp, account_of(records({times(poisson(0.1, 1))}), kOpacus).rdp);
  EXPECT_EQ(result.pld, account_of(records({times(poisson(0.1, 1))}), kOpacus).pld);
  // The claim is about the neighbours of Poisson samples, whatever the samples' own.
  const Account exchanged = account_of(records({times(fixed_size(0.1, 1))}), assuming);
  EXPECT_EQ(exchanged.rdp, result.rdp);
  EXPECT_EQ(exchanged.adjacency, Adjacency::kZeroOut);
}

TEST(Account, ZeroingAUnitOutCostsWhatRemovingItDoesAtTheSameRate) {
  const auto of = [](Adjacency adjacency) {
    return account_of(records({times(poisson(0.1, 1, adjacency)), times(Gaussian{3, adjacency})}), kOpacus);
  };
  const Account zeroed = of(Adjacency::kZeroOut);
  EXPECT_EQ(zeroed.rdp, of(Adjacency::kAddRemove).rdp);
  EXPECT_EQ(zeroed.pld, of(Adjacency::kAddRemove).pld);
  EXPECT_EQ(zeroed.adjacency, Adjacency::kZeroOut);
  const Account both =
      account_of(records({times(poisson(0.1, 1)), times(Gaussian{3, Adjacency::kZeroOut})}), kOpacus);
  EXPECT_EQ(both.rdp, zeroed.rdp);
  EXPECT_EQ(both.adjacency, Adjacency::kZeroOut);
  EXPECT_FALSE(account_of(records({times(fixed_size(0.1, 1, Adjacency::kZeroOut))}), kOpacus).rdp.epsilon);
}

// Distances 2 / z and 1 / z' together are that of one Gaussian; which neighbours another one exchanges, and
// which client made which, makes no difference.
TEST(Account, TakesAnyExchangeBesideZeroingOutForThat) {
  const Event exchanged = Gaussian{4, Adjacency::kReplaceOne}, zeroed = Gaussian{3, Adjacency::kZeroOut};
  const double together = 1 / std::sqrt(4.0 / 16 + 1.0 / 9);
  const Account one = account_of(records({times(Gaussian{together, Adjacency::kZeroOut}, 1)}), kOpacus);
  RoundAccesses both = times(exchanged, 1);
  both.add(zeroed);
  const Account mixed = account_of(records({both}), kOpacus);
  EXPECT_EQ(mixed.adjacency, Adjacency::kZeroOut);
  EXPECT_NEAR(*mixed.rdp.epsilon, *one.rdp.epsilon, 1e-12);
  EXPECT_NEAR(*mixed.pld.epsilon, *one.pld.epsilon, 1e-9);
  EXPECT_EQ(account_of(records({times(exchanged), times(zeroed)}), kOpacus).adjacency, Adjacency::kZeroOut);
  EXPECT_FALSE(pld_epsilon(both.list(), 1e-5, {.lower_bound = true}).lower);
}

TEST(Account, RefusesToMixAdjacencies) {
  const Event add_remove = poisson(0.1, 2);
  const Event other = fixed_size(0.1, 2);
  EXPECT_TRUE(account_of(records({times(other)}), kOpacus).rdp.epsilon);
  EXPECT_EQ(account_of(records({times(other)}), kOpacus).adjacency, Adjacency::kReplaceOne);
  // In one client, between two, and within a composition.
  RoundAccesses both = times(add_remove);
  both.add(other);
  for (const Ledger& ledger : {records({both}), records({times(add_remove), times(other)}),
                               records({times(Composition{{{add_remove, 1}, {other, 1}}})})}) {
    const Account result = account_of(ledger, kOpacus);
    EXPECT_THAT(result.rdp.unproven, HasSubstr("mix add-remove and replace-one"));
    EXPECT_THAT(result.pld.unproven, HasSubstr("mix add-remove and replace-one"));
    EXPECT_EQ(result.adjacency, std::nullopt);
  }
  EXPECT_THAT(pld_claim(both.list(), kOpacus).unproven, HasSubstr("mix"));
}

TEST(Account, FollowsItsSettings) {
  const Ledger ledger = records({times(poisson(0.0256, 1), 200)});
  AccountSettings settings = kOpacus;
  const double opacus = *account_of(ledger, settings).rdp.epsilon;
  settings.orders = "default";
  EXPECT_LE(*account_of(ledger, settings).rdp.epsilon, opacus);
  settings.conversion = "classic";
  EXPECT_GT(*account_of(ledger, settings).rdp.epsilon, opacus);
  settings = kOpacus;
  settings.delta = 1e-6;
  EXPECT_GT(*account_of(ledger, settings).rdp.epsilon, opacus);
  EXPECT_GT(*account_of(ledger, settings).pld.epsilon, *account_of(ledger, kOpacus).pld.epsilon);
}

TEST(Account, RefusesInvalidSettings) {
  const Ledger ledger = records({{}});
  for (const double delta : {-1e-5, 1.0, 2.0, kInfinity, kNan}) {
    AccountSettings settings = kOpacus;
    settings.delta = delta;
    EXPECT_THROW(account(ledger, settings), Error) << delta;
    EXPECT_THROW(pld_claim({}, settings), Error) << delta;
  }
  for (const AccountSettings& unknown :
       {AccountSettings{.orders = "few"}, AccountSettings{.conversion = "new"},
        AccountSettings{.assume = "luck"}}) {
    EXPECT_THROW(account(ledger, unknown), Error);
    EXPECT_THROW(Odometer{unknown}, Error);
  }
}

TEST(Account, RefusesInvalidEvents) {
  EXPECT_THROW(account(records({times(poisson(1.5, 1))}), kOpacus), Error);
  EXPECT_THROW(pld_claim({{Gaussian{.noise_multiplier = -1}, 1}}, kOpacus), Error);
}

// What the accountant's numerics do not cover must not end a run that has finished.
TEST(Account, SaysSoWherePldHasNoNumber) {
  const Account result = account_of(records({times(poisson(0.1, 1e-4))}), kOpacus);
  EXPECT_TRUE(result.rdp.epsilon);
  EXPECT_FALSE(result.pld.epsilon);
  EXPECT_NE(result.pld.unproven, "");
}

// What was asked before leaves no trace.
TEST(Odometer, GrowsWithEveryRoundAsTheLedgerDoes) {
  const Odometer odometer{AccountSettings()};
  Ledger ledger = idle_ledger(Unit::kRecord);
  double last = 0;
  for (std::int64_t round = 1; round <= 20; ++round) {
    ledger.record(round, 0, times(poisson(0.02, round % 5 == 0 ? 0.9 : 1.2), 10));
    const double now = odometer.epsilon(ledger).epsilon.value();
    EXPECT_GT(now, last) << "round " << round;
    EXPECT_EQ(now, Odometer(AccountSettings()).epsilon(ledger).epsilon) << "round " << round;
    last = now;
  }
}

}  // namespace
}  // namespace fedarena
