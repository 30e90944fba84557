#include "results/audit/compute_claim.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "fedarena/accounting/odometer.hpp"

#include "tests/infinity.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

RoundAccesses accesses(const std::vector<Event>& events) {
  RoundAccesses result;
  for (const Event& event : events) result.add(event);
  return result;
}

SampledGaussian sampled(double rate, double noise, Sampling sampling = Sampling::kPoisson) {
  return {.sampling = sampling, .rate = rate, .noise_multipliers = {noise}};
}

Ledger record_ledger() {
  Ledger ledger(Unit::kRecord);
  ledger.add_client(0, 1000);
  ledger.add_client(3, 500);
  return ledger;
}

const AccountSettings kSettings{.delta = 1e-5, .orders = "opacus"};

// What the summary of a run with this ledger states.
PrivacyClaim stated(const Ledger& ledger, const AccountSettings& settings = kSettings,
                    const PerClient& budget = 0) {
  Summary summary = finished("fedavg", 1, 0.5);
  plan_privacy(summary, std::string(name(ledger.unit())), settings, budget, budget.is_list());
  compute_claim(summary, ledger);
  EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
  return *summary.privacy;
}

TEST(PlanPrivacy, HoldsWhatIsKnownBeforeTheFirstRound) {
  Summary summary = unfinished("fedavg", 1, 0);
  plan_privacy(summary, "client", kSettings, 8);
  EXPECT_EQ(summary.policy, "client");
  EXPECT_EQ(summary.privacy, (PrivacyClaim{.unit = "client", .settings = kSettings, .budget = 8}));
  EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
  plan_privacy(summary, "none", kSettings, 8);
  EXPECT_EQ(summary, unfinished("fedavg", 1, 0));
}

TEST(ComputeClaim, StatesNothingWithoutAPolicy) {
  Summary summary = finished("fedavg", 1, 0.5);
  compute_claim(summary, Ledger());
  EXPECT_EQ(summary, finished("fedavg", 1, 0.5));
}

TEST(ComputeClaim, AgreesWithTheAccount) {
  Ledger ledger = record_ledger();
  for (std::int64_t round = 1; round <= 3; ++round) {
    ledger.record(round, 0, accesses({sampled(0.0256, 1), sampled(0.0256, 1)}));
    ledger.record(round, 3, accesses({sampled(0.05, 1)}));
  }
  const PrivacyClaim claim = stated(ledger);
  const Account expected = account(ledger, kSettings);
  EXPECT_EQ(claim.unit, "record");
  EXPECT_EQ(claim.adjacency, "add-remove");
  EXPECT_EQ(claim.units, 1500) << "all examples";
  EXPECT_EQ(claim.rdp, expected.rdp);
  EXPECT_EQ(claim.pld, expected.pld);
  EXPECT_GT(claim.rdp->epsilon, claim.pld->epsilon);
  const ClientAccount& worst = expected.clients[expected.clients[0].rdp == expected.rdp ? 0 : 1];
  EXPECT_EQ(claim.order, worst.order);
  EXPECT_GT(claim.order, 1);
  EXPECT_FALSE(claim.as_if_rdp);
  EXPECT_EQ(claim.exact_access, "");
  EXPECT_FALSE(claim.assumed);
}

// One round, or rounds that are all alike, tell nothing of how it was decided what to ask for.
TEST(ComputeClaim, SaysWhereNobodySaidBeforehandWhatWouldBeAskedFor) {
  const RoundAccesses planned(accesses({sampled(0.05, 1)}).list(), std::vector<Access>());
  for (const bool by_budget : {false, true}) {
    Ledger ledger = record_ledger();
    for (std::int64_t round = 1; round <= 3; ++round) ledger.record(round, 0, planned);
    EXPECT_FALSE(stated(ledger, kSettings, by_budget ? 100 : 0).unplanned);
    ledger.record(2, 3, accesses({ExactAccess{"loss"}}));
    EXPECT_FALSE(stated(ledger, kSettings, by_budget ? 100 : 0).unplanned) << "nothing is proven anyway";
    Ledger once = record_ledger();
    for (std::int64_t round = 1; round <= 3; ++round) once.record(round, 0, planned);
    once.record(1, 3, accesses({sampled(0.05, 1)}));
    EXPECT_TRUE(stated(once, kSettings, by_budget ? 100 : 0).unplanned);
    Ledger nothing = record_ledger();  // was asked for, as an answer had it
    nothing.record(1, 0, planned);
    nothing.record(2, 0, RoundAccesses());
    EXPECT_TRUE(stated(nothing, kSettings, by_budget ? 100 : 0).unplanned);
    // Of budgets of their own, those who vary are charged theirs.
    Ledger own = record_ledger();
    for (const double rate : {0.05, 0.1}) own.record(rate < 0.1 ? 1 : 2, 0, accesses({sampled(rate, 1)}));
    EXPECT_FALSE(stated(own, kSettings, PerClient({9.0, 9.0, 9.0, 9.0})).unplanned);
    own.record(1, 3, accesses({sampled(0.05, 1)}));
    EXPECT_TRUE(stated(own, kSettings, PerClient({9.0, 9.0, 9.0, 9.0})).unplanned);
  }
}

TEST(ComputeClaim, NamesTheNeighboursOfMessagesWhateverTheirNoise) {
  Ledger ledger(Unit::kLocal);
  ledger.add_client(0, 1000);
  ledger.record(1, 0, accesses({Laplace{.epsilon = 2}}));
  EXPECT_EQ(stated(ledger).adjacency, "replace-one");
}

TEST(ComputeClaim, StatesWhatMessagesClaimPerUnitOfDistanceAndNominally) {
  Ledger ledger(Unit::kLocal);
  ledger.add_client(0, 1000);
  ledger.add_client(3, 500);
  for (std::int64_t round = 1; round <= 6; ++round)
    ledger.record(round, 3, accesses({MetricLaplace{2, 4}, Nominal{"n/nu", 0.4}}));
  ledger.record(1, 0, accesses({MetricLaplace{2, 4}, Nominal{"n/nu", 0.4}}));
  const PrivacyClaim claim = stated(ledger);
  EXPECT_EQ(claim.unit, "local");
  EXPECT_EQ(claim.units, 2) << "clients";
  EXPECT_FALSE(claim.rdp->epsilon);
  EXPECT_EQ(claim.rdp->unproven, "metric privacy has no epsilon without a distance");
  EXPECT_EQ(claim.per_distance, 1.5);
  ASSERT_EQ(claim.nominal.size(), 1U);
  EXPECT_NEAR(claim.nominal[0].second, 2.4, 1e-12);
  ledger.record(7, 0, accesses({ExactAccess{"messages"}}));
  EXPECT_EQ(stated(ledger).exact_access, "fedavg: messages of client 0, round 7");
}

// Of those who took part: who did not has spent nothing.
TEST(ComputeClaim, StatesTheLeastEpsilonWhereClientsHaveTheirOwn) {
  Ledger ledger(Unit::kRecord);
  for (std::int64_t client = 0; client < 4; ++client) ledger.add_client(client, 100);
  for (const auto& [client, noise] : {std::pair(0, 2.0), {1, 8.0}, {3, 4.0}})
    ledger.record(1, client, accesses({sampled(0.1, noise)}));
  Summary summary = finished("fedavg", 1, 0.5);
  plan_privacy(summary, "record", kSettings, 0, true);
  compute_claim(summary, ledger);
  const PrivacyClaim& claim = *summary.privacy;
  const Account expected = account(ledger, kSettings);
  EXPECT_EQ(claim.rdp, expected.clients[0].rdp);
  EXPECT_EQ(claim.least_rdp, expected.clients[1].rdp);
  EXPECT_EQ(claim.least_pld, pld_claim(ledger.charged(1), kSettings));
  ledger.record(2, 1, accesses({ExactAccess{"loss"}}));
  compute_claim(summary, ledger);
  EXPECT_EQ(claim.rdp->epsilon, kInfinity);
  EXPECT_EQ(claim.least_rdp, expected.clients[3].rdp);
  EXPECT_FALSE(stated(ledger).least_rdp) << "one noise and one budget for all";
}

// What is left of a budget may be what data left.
TEST(ComputeClaim, IsWhatTheBudgetProvesWhereDataDecidedHowMuchOfItIsSpent) {
  const auto ledger_of = [](const std::vector<std::int64_t>& counts, bool planned) {
    Ledger ledger = record_ledger();
    for (std::size_t round = 0; round < counts.size(); ++round) {
      RoundAccesses own({{sampled(0.1, 1), counts[round]}});
      if (planned) own.leave_unmade({{sampled(0.1, 1), 5 - counts[round]}});
      ledger.record(static_cast<std::int64_t>(round) + 1, 0, own);
      ledger.record(static_cast<std::int64_t>(round) + 1, 3, accesses({sampled(0.1, 2)}));
    }
    return ledger;
  };
  const Ledger alike = ledger_of({4, 4}, false), varied = ledger_of({4, 2}, false);
  const Account spent = account(varied, kSettings);
  EXPECT_EQ(stated(alike, kSettings, 8).rdp, account(alike, kSettings).rdp)
      << "two rounds, whatever was answered";
  const PrivacyClaim claim = stated(varied, kSettings, 8);
  EXPECT_EQ(claim.rdp->epsilon, epsilon_of_filter(8, kSettings));
  EXPECT_EQ(claim.pld, claim.rdp);
  EXPECT_EQ(claim.order, 0);
  EXPECT_EQ(claim.made_rdp, spent.rdp);
  EXPECT_EQ(claim.made_pld, spent.pld);
  EXPECT_TRUE(charges_budget(claim));
  // A plan was fixed before, so that it is what is spent.
  const Ledger planned = ledger_of({4, 2}, true);
  EXPECT_EQ(stated(planned, kSettings, 8).rdp, account(planned, kSettings).rdp);
  EXPECT_GT(*account(planned, kSettings).rdp.epsilon, *spent.rdp.epsilon);
  EXPECT_FALSE(charges_budget(stated(planned, kSettings, 8)));
  // Of budgets of their own, those of clients whose accesses changed.
  const PrivacyClaim own = stated(varied, kSettings, PerClient({7.0, 9.0}));
  EXPECT_EQ(own.rdp->epsilon, epsilon_of_filter(7, kSettings));
  EXPECT_EQ(own.pld, own.rdp);
  EXPECT_EQ(own.least_rdp, spent.clients[1].rdp);
}

// A ledger says how often a client took part, not when: rounds that the budget pays for are not cut off with
// those that it does not pay for.
TEST(ComputeClaim, CutsOffNoRoundThatABudgetMayHavePaidFor) {
  Ledger ledger = record_ledger();
  const auto steps = [](std::int64_t count) {
    RoundAccesses planned({{sampled(0.1, 1), count}});
    planned.leave_unmade({});
    return planned;
  };
  ledger.record(1, 0, steps(10));
  ledger.end_after(1);
  for (const std::int64_t round : {2, 10, 11, 12, 13}) ledger.record(round, 0, steps(10));
  for (std::int64_t round = 3; round <= 9; ++round) ledger.record(round, 3, steps(6));
  const auto epsilon = [](std::int64_t count) {
    return *Odometer(kSettings).epsilon({{sampled(0.1, 1), count}}).epsilon;
  };
  // Client 0 ends such a run before its fifth round, which is the twelfth; client 3 is charged 42 steps by
  // then.
  const PrivacyClaim claim = stated(ledger, kSettings, epsilon(45));
  EXPECT_GE(*claim.rdp->epsilon, epsilon(42));
  EXPECT_LE(*claim.rdp->epsilon, epsilon(45));
}

// All rounds of the plan are charged, but no more than the budget, which they would not have passed.
TEST(ComputeClaim, IsAtMostTheBudgetOfARunThatDataEnded) {
  Ledger ledger = record_ledger();
  for (std::int64_t round = 1; round <= 9; ++round) {
    if (round == 3) ledger.end_after(2);
    ledger.record(round, 0, accesses({sampled(0.1, 1)}));
  }
  const Account plan = account(ledger, kSettings);
  for (const double budget : {0.9 * *plan.rdp.epsilon, 1.1 * *plan.rdp.epsilon}) {
    const PrivacyClaim claim = stated(ledger, kSettings, budget);
    EXPECT_EQ(claim.rdp->epsilon, std::min(budget, *plan.rdp.epsilon));
    EXPECT_EQ(claim.pld->epsilon, std::min(budget, *plan.pld.epsilon));
    EXPECT_EQ(claim.made_rdp, account(ledger.made(), kSettings).rdp);
  }
}

// Where it goes on, a budget ends it all the same.
TEST(ComputeClaim, IsThatOfThePlannedRoundsThatABudgetPaysFor) {
  const RoundAccesses planned(accesses({sampled(0.1, 1)}).list(), std::vector<Access>());
  const auto rounds = [&](std::int64_t count, std::int64_t ended_after) {
    Ledger ledger = record_ledger();
    for (std::int64_t round = 1; round <= count; ++round) {
      if (round == ended_after + 1 && ended_after > 0) ledger.end_after(ended_after);
      ledger.record(round, 0, planned);
    }
    return ledger;
  };
  const Account six = account(rounds(6, 0), kSettings), seven = account(rounds(7, 0), kSettings);
  const double budget = (*six.rdp.epsilon + *seven.rdp.epsilon) / 2;
  const PrivacyClaim claim = stated(rounds(9, 2), kSettings, budget);
  EXPECT_EQ(claim.rdp, six.rdp);
  EXPECT_EQ(claim.pld, six.pld);
  EXPECT_EQ(claim.made_rdp, account(rounds(2, 0), kSettings).rdp);
  EXPECT_EQ(stated(rounds(9, 2), kSettings, 100).rdp, account(rounds(9, 0), kSettings).rdp);
}

TEST(ComputeClaim, IsTheSameWhenStatedAgain) {
  Ledger ledger = record_ledger();
  ledger.record(1, 0, accesses({sampled(0.0256, 1)}));
  Summary summary = finished("fedavg", 1, 0.5);
  plan_privacy(summary, "record", kSettings, 0);
  compute_claim(summary, ledger);
  Summary again = parse_summary(to_json_text(summary), "");
  compute_claim(again, Ledger::from_json(ledger.to_json()));
  EXPECT_EQ(again, summary);
}

TEST(ComputeClaim, NamesTheFirstExactAccess) {
  Ledger ledger = record_ledger();
  ledger.record(1, 0, accesses({sampled(0.1, 1)}));
  ledger.record(2, 0, accesses({sampled(0.1, 1), ExactAccess{"loss"}}));
  ledger.record(1, 3, accesses({Composition{{{ExactAccess{"label counts"}, 1}}}}));
  PrivacyClaim claim = stated(ledger);
  EXPECT_EQ(claim.rdp->epsilon, kInfinity);
  EXPECT_EQ(claim.pld->epsilon, kInfinity);
  EXPECT_EQ(claim.order, 0);
  EXPECT_THAT(claim.exact_access, ::testing::StartsWith("fedavg: "));
  EXPECT_THAT(claim.exact_access, ::testing::EndsWith(" of client 3, round 1"));

  ledger = record_ledger();
  ledger.record(1, 0, accesses({sampled(0.1, 1)}));
  ledger.record(2, 0, accesses({sampled(0.1, 1), ExactAccess{"loss"}, ExactAccess{"examples"}}));
  EXPECT_EQ(stated(ledger).exact_access, "fedavg: loss of client 0, round 2");
}

TEST(ComputeClaim, CountsNoiseOfNothingAsExact) {
  Ledger ledger(Unit::kClient);
  ledger.add_client(0, 10);
  ledger.record(1, 0, accesses({ExactAccess{"gradient"}}));  // a client's own affair under this policy
  ledger.record_population(1, accesses({Gaussian{.noise_multiplier = 1}}));
  EXPECT_EQ(stated(ledger).exact_access, "");
  EXPECT_TRUE(is_finite(stated(ledger).rdp));
  ledger.record_population(2, accesses({Gaussian{.noise_multiplier = 0}}));
  EXPECT_EQ(stated(ledger).exact_access,
            "fedavg: " + describe(Gaussian{.noise_multiplier = 0}) + " of all clients, round 2");
}

TEST(ComputeClaim, StatesWhatIsTakenForPublic) {
  Ledger ledger = record_ledger();
  ledger.record(1, 0, accesses({sampled(0.1, 1)}));
  const PrivacyClaim silent = stated(ledger);
  EXPECT_THAT(silent.public_data, testing::IsEmpty());
  ledger.record(1, 3,
                accesses({DeclaredPublic{"classes"}, DeclaredPublic{"another"}, DeclaredPublic{"classes"}}));
  const PrivacyClaim claim = stated(ledger);
  EXPECT_THAT(claim.public_data, testing::ElementsAre("each client's another", "each client's classes"));
  EXPECT_EQ(claim.rdp, silent.rdp);
  EXPECT_EQ(claim.pld, silent.pld);
  ledger.declare_public({"the server's proxy data", "classes"});
  EXPECT_THAT(stated(ledger).public_data,
              testing::ElementsAre("classes", "each client's another", "each client's classes",
                                   "the server's proxy data"));
}

TEST(ComputeClaim, MarksOnlyWhatRestsOnTheAssumption) {
  AccountSettings assuming = kSettings;
  assuming.assume = "poisson";
  Ledger poisson = record_ledger();
  poisson.record(1, 0, accesses({sampled(0.1, 1), sampled(1, 1, Sampling::kWithoutReplacement)}));
  EXPECT_FALSE(stated(poisson, assuming).assumed);
  Ledger fixed = record_ledger();
  fixed.record(1, 0, accesses({sampled(0.1, 1, Sampling::kWithoutReplacement)}));
  EXPECT_TRUE(stated(fixed, assuming).assumed);
  EXPECT_TRUE(is_finite(stated(fixed, assuming).rdp));
  EXPECT_FALSE(stated(fixed).assumed);
}

TEST(ComputeClaim, StatesTheSimulatedAndTheAsIfEpsilon) {
  Ledger ledger(Unit::kClient);
  ledger.record_population(1, accesses({sampled(0.5, 1)}));
  ledger.record_as_if(1, accesses({sampled(0.01, 1)}));
  const PrivacyClaim claim = stated(ledger);
  EXPECT_EQ(claim.unit, "client");
  EXPECT_LT(*claim.as_if_rdp->epsilon, *claim.rdp->epsilon);
  EXPECT_LT(*claim.as_if_pld->epsilon, *claim.pld->epsilon);
}

// Which stands in no ledger.
TEST(ComputeClaim, CountsTheAsIfPopulation) {
  Ledger ledger(Unit::kClient);
  ledger.record_population(1, accesses({sampled(0.5, 1)}));
  Summary summary = finished("fedavg", 1, 0.5);
  plan_privacy(summary, "client", kSettings, 0);
  summary.policy_settings = {{"as_if_cohort", "100"}, {"as_if_population", "100000"}};
  compute_claim(summary, ledger);
  EXPECT_EQ(summary.privacy->as_if_units, 0) << "of a run that was not rescaled";
  ledger.record_as_if(1, accesses({sampled(0.001, 1)}));
  compute_claim(summary, ledger);
  EXPECT_EQ(summary.privacy->as_if_units, 100'000);
  EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
}

TEST(ComputeClaim, OfAnotherUnitIsABug) {
  Summary summary = finished("fedavg", 1, 0.5);
  plan_privacy(summary, "client", kSettings, 0);
  EXPECT_THROW(compute_claim(summary, record_ledger()), Bug);
}

}  // namespace
}  // namespace fedarena::results
