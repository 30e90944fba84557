#include "results/audit/privacy_report.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "results/audit/ledger_findings.hpp"
#include "results/record/claim_text.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

PrivacyReport report_of(const RecordedRun::Plan& plan) {
  const Scratch folder;
  return privacy_report(RecordedRun(folder / "run", plan).open());
}

// What a budget withheld has no segment, and a crash leaves what is noised.
TEST(LedgerFindings, KnowARunThatAnExactAccessEnded) {
  const RoundAccesses noised({{Gaussian{2}, 1}}), exact({{Gaussian{2}, 1}, {ExactAccess{"messages"}, 1}});
  for (const RoundAccesses* last : {&noised, &exact}) {
    Ledger ledger(Unit::kClient);
    ledger.add_client(0, 5);
    ledger.record_population(1, noised);
    Ledger written = ledger;
    written.record_population(2, *last);
    EXPECT_FALSE(ended_in_exact_access(written));
    ledger.add_lost(written, 2);
    EXPECT_EQ(ended_in_exact_access(ledger), last == &exact);
  }
}

TEST(PrivacyReport, GroupsClientsToWhomTheSameHappened) {
  const PrivacyReport report = report_of({});
  ASSERT_THAT(report.groups, SizeIs(2));  // client 2 sat a round out
  EXPECT_THAT(report.groups[0].clients, ElementsAre(0, 1));
  EXPECT_EQ(report.groups[0].examples_least, 1000);
  EXPECT_EQ(report.groups[0].examples_most, 1001);
  EXPECT_EQ(report.groups[0].rounds, 4);
  ASSERT_THAT(report.groups[0].events, SizeIs(1));
  EXPECT_EQ(report.groups[0].events[0].count, 40);
  EXPECT_DOUBLE_EQ(report.groups[0].events[0].part, 1);
  EXPECT_THAT(report.groups[1].clients, ElementsAre(2));
  EXPECT_EQ(report.groups[1].events[0].count, 30);
  EXPECT_LT(report.groups[1].rdp->epsilon, report.groups[0].rdp->epsilon);
  EXPECT_EQ(report.groups[0].rdp, report.summary.privacy->rdp) << "the run's epsilon is the largest";
}

// Answers may have decided who was looked at exactly.
TEST(PrivacyReport, SaysWhatEpsilonsBesideExactAccessesRestOn) {
  const auto exact_for = [](std::int64_t most) {
    return report_of({.accesses = [most](std::int64_t /*round*/, std::int64_t client) {
      std::vector<Access> accesses = private_steps(10, 2).list();
      if (client <= most) accesses.push_back({ExactAccess{"loss"}, 1});
      return RoundAccesses(accesses);
    }});
  };
  EXPECT_THAT(render_text(exact_for(0)), HasSubstr(kOthersExactNote));
  EXPECT_THAT(render_text(exact_for(2)), Not(HasSubstr(kOthersExactNote)));
}

// Of runs with thousands of clients.
TEST(PrivacyReport, CutsLongListsOfClientsShort) {
  ClientGroup odd;
  for (std::int64_t client = 1; client < 8; client += 2) odd.clients.push_back(client);
  EXPECT_EQ(clients_text(odd), "1, 3, 5, 7");
  for (std::int64_t client = 9; client < 2000; client += 2) odd.clients.push_back(client);
  EXPECT_THAT(clients_text(odd), AllOf(StartsWith("1, 3, 5, 7, 9, "), EndsWith(", ... (1000 clients)"),
                                       SizeIs(testing::Lt(150U))));
}

// Of one order, divergences add up: the shares are those of the events alone.
TEST(PrivacyReport, SharesTheDivergenceAmongEvents) {
  const PrivacyReport report = report_of({.accesses = [](std::int64_t round, std::int64_t) {
    return round % 2 == 0 ? private_steps(10, 2) : private_steps(10, 1);
  }});
  const std::vector<EventShare>& events = report.groups[0].events;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].count, 20);
  EXPECT_EQ(events[1].count, 20);
  EXPECT_NEAR(events[0].part + events[1].part, 1, 1e-12);
  EXPECT_GT(events[0].part, 0.8) << "half the noise costs much more";
}

TEST(PrivacyReport, SaysThatTheTrialsOfATuningAreNotCovered) {
  PrivacyReport report = report_of({});
  EXPECT_THAT(render_text(report), Not(HasSubstr("tuning")));
  EXPECT_FALSE(nlohmann::json::parse(render_json(report)).contains("tuning"));
  report.summary.tuning = tuned_by(6);
  EXPECT_THAT(render_text(report), HasSubstr("6 trials, which epsilon does not cover\n"));
  const auto tuning = nlohmann::json::parse(render_json(report)).at("tuning");
  EXPECT_EQ(tuning.at("trials"), 6);
  for (const char* cost : {"examples", "seconds"})
    EXPECT_TRUE(tuning.at(cost).is_null()) << "which tell the sizes of samples";
}

TEST(PrivacyReport, SaysThatAnAuditContradictsTheClaim) {
  PrivacyReport report = report_of({});
  report.summary.audit =
      CanaryAudit{.kind = "gradient", .canaries = 100, .guesses = 20, .right = 20, .lower_bound = 0.001};
  EXPECT_THAT(render_text(report), Not(HasSubstr("contradicts")));
  EXPECT_FALSE(nlohmann::json::parse(render_json(report)).at("audit_contradicts"));
  report.summary.audit->lower_bound = 4000;
  EXPECT_THAT(render_text(report), HasSubstr("epsilon >= 4000.0000 contradicts the claimed epsilon of "));
  EXPECT_TRUE(nlohmann::json::parse(render_json(report)).at("audit_contradicts"));
}

TEST(PrivacyReport, TellsOfTheWholePopulationWhereClientsAreTheUnit) {
  const PrivacyReport report = report_of({.policy = "client"});
  ASSERT_THAT(report.groups, SizeIs(1));
  EXPECT_THAT(report.groups[0].clients, IsEmpty());
  EXPECT_EQ(report.groups[0].rounds, 4);
  EXPECT_EQ(report.groups[0].events[0].count, 40);
  EXPECT_EQ(report.groups[0].rdp, report.summary.privacy->rdp);
}

TEST(PrivacyReport, ComputesTheClaimOfAnInterruptedRun) {
  const PrivacyReport report = report_of({.finished = false});
  ASSERT_TRUE(report.summary.privacy->rdp);
  EXPECT_EQ(report.summary.privacy->rdp->epsilon, report.groups[0].rdp->epsilon);
  EXPECT_THAT(render_text(report), HasSubstr("interrupted, 3 of 4 rounds"));
}

// Before the first checkpoint the summary knows of no round, and the ledger of all.
TEST(PrivacyReport, CountsTheRoundsThatTheLedgerCharges) {
  const Scratch folder;
  const RecordedRun run(folder / "run", {.finished = false});
  run.change_summary([](Summary& summary) {
    summary.state = kRunning;
    summary.rounds_done = 0;
  });
  const PrivacyReport report = privacy_report(run.open());
  EXPECT_EQ(report.groups[0].rounds, 3);
  EXPECT_THAT(render_text(report), HasSubstr("running, 3 of 4 rounds"));
  EXPECT_EQ(nlohmann::json::parse(render_json(report)).at("rounds_done"), 3);
}

TEST(PrivacyReport, MakesNoClaimWithoutAPolicy) {
  const PrivacyReport report = report_of({.policy = "none", .accesses = [](auto, auto) {
                                            RoundAccesses accesses;
                                            accesses.add(ExactAccess{"gradient"});
                                            return accesses;
                                          }});
  EXPECT_THAT(report.exact, IsEmpty()) << "nothing was promised";
  const std::string text = render_text(report);
  EXPECT_THAT(text, has_all("makes no claim", "4 x  exact access"));
  EXPECT_THAT(text, Not(HasSubstr("RDP")));
}

// What data made of a plan is a second number: the claim is that of the plan.
TEST(PrivacyReport, ClaimsThePlanAndTellsWhatWasMadeOfIt) {
  const auto stops_early = [](std::int64_t round, std::int64_t client) {
    RoundAccesses accesses = private_steps(round == 3 || client == 1 ? 6 : 10);
    if (client == 2) accesses.add(DeclaredPublic{"classes"});
    return accesses;
  };
  const auto planned = [&](std::int64_t round, std::int64_t client) {
    RoundAccesses accesses = stops_early(round, client);
    const std::int64_t made = accesses.list().front().count;
    accesses.leave_unmade(made < 10 ? private_steps(10 - made).list() : std::vector<Access>());
    return accesses;
  };
  const PrivacyClaim claim = *report_of({.accesses = planned}).summary.privacy;
  const PrivacyClaim all = *report_of({}).summary.privacy;
  const PrivacyClaim unbounded = *report_of({.accesses = stops_early}).summary.privacy;
  EXPECT_DOUBLE_EQ(*claim.rdp->epsilon, *all.rdp->epsilon);
  EXPECT_DOUBLE_EQ(*claim.pld->epsilon, *all.pld->epsilon);
  EXPECT_EQ(claim.made_rdp, unbounded.rdp);
  EXPECT_EQ(claim.made_pld, unbounded.pld);
  EXPECT_LT(*claim.made_rdp->epsilon, *claim.rdp->epsilon);
  EXPECT_FALSE(all.made_rdp || all.made_pld || unbounded.made_rdp || unbounded.made_pld);
  EXPECT_THAT(render_text(report_of({.accesses = planned})),
              HasSubstr("by RDP, of what was asked for; epsilon charges for all that was planned"));
}

// What data made of it stands there, but the budget is what is charged.
TEST(PrivacyReport, CallsNoAccessesChargedWhereABudgetIs) {
  const Scratch folder;
  const RecordedRun run(folder / "run", {.accesses = [](std::int64_t round, std::int64_t) {
                          return private_steps(round == 3 ? 6 : 10);
                        }});
  run.change_summary([](Summary& summary) { summary.privacy->budget = 8; });
  const PrivacyReport report = privacy_report(run.open());
  EXPECT_EQ(report.groups[0].rdp->epsilon, epsilon_of_filter(8, report.summary.privacy->settings));
  EXPECT_TRUE(std::isnan(report.groups[0].events[0].part)) << "the budget does not rest on it";
  EXPECT_THAT(render_text(report),
              AllOf(HasSubstr("; epsilon is what a filter with the budget 8 proves,"),
                    HasSubstr("\nWhat was asked for, or planned, of the data of clients 0-1, "
                              "charged by the budget:\n  36 x  Poisson"),
                    Not(HasSubstr("What is charged"))));
}

TEST(PrivacyReport, IsOneJsonObject) {
  const auto json = nlohmann::json::parse(render_json(report_of({})));
  EXPECT_EQ(json["policy"], "record");
  EXPECT_EQ(json["plugin"], "fedavg");
  EXPECT_EQ(json["groups"][0]["clients"], nlohmann::json({0, 1}));
  EXPECT_EQ(json["groups"][0]["events"][0]["count"], 40);
  EXPECT_DOUBLE_EQ(json["groups"][0]["epsilon_rdp"].get<double>(), json["epsilon_rdp"].get<double>());
}

TEST(PrivacyReport, RefusesARunWithoutALedgerAndOneWithAForeignOne) {
  const Scratch folder;
  const RecordedRun run(folder / "run", {});
  run.edit(kLedgerFile, "\"unit\": \"record\"", "\"unit\": \"none\"");
  expect_refused("the unit is \"none\"", [&] { privacy_report(run.open()); });
  std::filesystem::remove(run.path() / kLedgerFile);
  expect_refused("ledger.json: is not there", [&] { privacy_report(run.open()); });
}

}  // namespace
}  // namespace fedarena::results
