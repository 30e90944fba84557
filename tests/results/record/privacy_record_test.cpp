// What a summary states about privacy, and what it must not.

#include "results/record/json_fields.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// What is said of a private summary after a change to its JSON; empty when it is accepted.
std::string complaint_after(const std::vector<std::pair<std::string, Json>>& changes,
                            const Summary& summary = finished_privately("fedavg", 1, 0.5)) {
  Json json = Json::parse(to_json_text(summary));
  for (const auto& [name, value] : changes) json[name] = value;
  try {
    parse_summary(json.dump(), "summary.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PrivacyRecord, WritesFlatFieldsAfterThePolicy) {
  Summary summary = stopped_by_budget("fedavg", 1, 0.5);
  summary.privacy->pld = unproven("no bound");
  EXPECT_THAT(to_json_text(summary), HasSubstr(R"(
  "policy": "record",
  "unit": "record",
  "adjacency": "zero-out",
  "delta": 1e-05,
  "orders": "opacus",
  "conversion": "balle",
  "assume": "nothing",
  "assumed": false,
  "epsilon_rdp": 2.78664,
  "rdp_unproven": "",
  "order": 8.5,
  "epsilon_pld": "unproven",
  "pld_unproven": "no bound",
  "as_if_epsilon_rdp": null,
  "as_if_rdp_unproven": "",
  "as_if_epsilon_pld": null,
  "as_if_pld_unproven": "",
  "made_epsilon_rdp": null,
  "made_rdp_unproven": "",
  "made_epsilon_pld": null,
  "made_pld_unproven": "",
  "varied": false,
  "exact_access": "",
  "public_data": [],
  "budget": 3.0,
  "stopped": "budget",
  "uplink_bytes")"));
}

TEST(PrivacyRecord, SaysHowManyUnitsThereAre) {
  Summary summary = finished_privately("fedavg", 1, 0.5);
  summary.privacy->units = 600;
  EXPECT_EQ(parse_summary(to_json_text(summary), "summary.json"), summary);
  EXPECT_THAT(complaint_after({{"units", 0}}, summary), HasSubstr("units"));
}

TEST(PrivacyRecord, ComesBackAsItWent) {
  std::vector<Summary> summaries = {finished_privately("fedavg", 1, 0.5),
                                    stopped_by_budget("fedavg", 1, 0.5)};
  for (const Claim& claim : {Claim{.epsilon = 0}, Claim{.epsilon = kInfinity}, unproven("a\n\"reason\"")}) {
    Summary& summary = summaries.emplace_back(finished_privately("fedavg", 1, 0.5));
    summary.privacy->rdp = summary.privacy->pld = claim;
    summary.privacy->as_if_rdp = summary.privacy->as_if_pld = claim;
    summary.privacy->order = 0;
  }
  summaries.back().privacy->settings = {
      .delta = 0, .orders = "default", .conversion = "classic", .assume = "poisson"};
  summaries.back().privacy->assumed = true;
  summaries.back().privacy->exact_access = "fedavg: loss of client 3, round 1";
  summaries.front().privacy->order = kInfinity;  // the sum of pure epsilons
  summaries.front().privacy->made_rdp = Claim{.epsilon = 0.5};
  summaries.front().privacy->made_pld = Claim{.epsilon = 0.25};
  summaries.front().privacy->adjacency = "";
  summaries.front().privacy->public_data = {"each client's classes", "the server's proxy data"};
  Summary planned = unfinished("fedavg", 1, 0);
  planned.policy = "client";
  planned.privacy = PrivacyClaim{.unit = "client", .budget = 8};
  summaries.push_back(planned);
  for (const Summary& summary : summaries) {
    EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary) << to_json_text(summary);
  }
}

Summary with_own_budgets() {
  Summary summary = finished_privately("fedavg", 1, 0.5);
  PrivacyClaim& claim = *summary.privacy;
  claim.per_client = true;
  claim.least_rdp = Claim{.epsilon = 0.5};
  claim.least_pld = unproven("no bound");
  claim.spent_clients = 3;
  claim.budget = PerClient(std::vector{1.0, 2.5});
  return summary;
}

TEST(PrivacyRecord, HoldsListsOfBudgets) {
  const Summary summary = with_own_budgets();
  const Json json = Json::parse(to_json_text(summary));
  EXPECT_EQ(json["budget"], Json({1.0, 2.5}));
  EXPECT_EQ(json["spent_clients"], 3);
  EXPECT_EQ(parse_summary(json.dump(), ""), summary);
  EXPECT_THAT(complaint_after({{"budget", Json::array()}}, summary), HasSubstr("field \"budget\""));
  EXPECT_THAT(complaint_after({{"budget", {1, -2}}}, summary), HasSubstr("field \"budget\""));
  EXPECT_THAT(complaint_after({{"spent_clients", -1}}, summary), HasSubstr("field \"spent_clients\""));
  EXPECT_THAT(complaint_after({{"least_epsilon_rdp", nullptr}}, summary),
              HasSubstr("field \"least_epsilon_pld\""));
}

TEST(PrivacyRecord, EveryFieldIsThereOrNone) {
  const Json json = Json::parse(to_json_text(finished_privately("fedavg", 1, 0.5)));
  const Json plain = Json::parse(to_json_text(finished("fedavg", 1, 0.5)));
  EXPECT_EQ(json.size(), plain.size() + 25);
  EXPECT_THAT(complaint_after({{"policy", "none"}}), HasSubstr("is unknown"));
  EXPECT_THAT(complaint_after({{"policy", "record"}}, finished("fedavg", 1, 0.5)),
              HasSubstr("field \"unit\" is missing"));
}

TEST(PrivacyRecord, RefusesWhatNoAccountantSays) {
  EXPECT_THAT(complaint_after({{"epsilon_rdp", -1}}),
              HasSubstr("field \"epsilon_rdp\" is -1; allowed: a number from 0, \"inf\" or \"unproven\""));
  EXPECT_THAT(complaint_after({{"epsilon_pld", "nan"}}), HasSubstr("field \"epsilon_pld\" is \"nan\""));
  EXPECT_THAT(complaint_after({{"epsilon_pld", "none"}}), HasSubstr("field \"epsilon_pld\" is \"none\""));
  EXPECT_THAT(complaint_after({{"delta", 1.5}}), HasSubstr("field \"delta\" is 1.5; allowed: a fraction"));
  EXPECT_THAT(complaint_after({{"order", 1}}),
              HasSubstr("field \"order\" is 1; allowed: 0 or a number above 1"));
  EXPECT_THAT(complaint_after({{"order", "nan"}}), HasSubstr("field \"order\" is \"nan\""));
  EXPECT_THAT(complaint_after({{"conversion", "new"}}), HasSubstr("allowed: balle, classic"));
  EXPECT_THAT(complaint_after({{"assume", "luck"}}), HasSubstr("allowed: nothing, poisson"));
  EXPECT_THAT(complaint_after({{"adjacency", "none"}}),
              HasSubstr("allowed: add-remove, replace-one, zero-out"));
  EXPECT_THAT(complaint_after({{"orders", ""}}), HasSubstr("the name of an order set"));
  EXPECT_THAT(complaint_after({{"public_data", "classes"}}), HasSubstr("allowed: a list of texts"));
  EXPECT_THAT(complaint_after({{"budget", "inf"}}), HasSubstr("field \"budget\""));
}

TEST(PrivacyRecord, RefusesWhatContradictsItself) {
  EXPECT_THAT(complaint_after({{"unit", "client"}}),
              HasSubstr("field \"unit\" is \"client\"; allowed: record, because that is the policy"));
  EXPECT_THAT(complaint_after({{"epsilon_rdp", nullptr}}), HasSubstr("field \"epsilon_pld\""));
  EXPECT_THAT(complaint_after({{"epsilon_rdp", nullptr}, {"epsilon_pld", nullptr}, {"order", 0}}),
              HasSubstr("field \"epsilon_rdp\" is null; allowed: an epsilon, because the state is finished"));
  EXPECT_THAT(complaint_after({{"epsilon_rdp", "unproven"}}),
              HasSubstr("field \"rdp_unproven\" is \"\"; allowed: the reason why nothing is proven"));
  EXPECT_THAT(complaint_after({{"pld_unproven", "no bound"}}),
              HasSubstr("allowed: empty, because epsilon_pld is not \"unproven\""));
  EXPECT_THAT(complaint_after({{"epsilon_rdp", "unproven"}, {"rdp_unproven", "no bound"}}),
              HasSubstr("field \"order\" is 8.5; allowed: 0"));
  EXPECT_THAT(complaint_after({{"as_if_epsilon_rdp", 1}}), HasSubstr("field \"as_if_epsilon_pld\" is null"));
  EXPECT_THAT(complaint_after({{"exact_access", "fedavg: loss"}}),
              HasSubstr("allowed: empty, because epsilon is not infinite"));
  EXPECT_THAT(complaint_after({{"assumed", true}}), HasSubstr("nothing is to be assumed"));
}

TEST(PrivacyRecord, OnlyABudgetEndsARunBeforeItsPlan) {
  const Summary stopped = stopped_by_budget("fedavg", 1, 0.5);
  EXPECT_EQ(complaint_after({}, stopped), "");
  EXPECT_THAT(complaint_after({{"stopped", "luck"}}, stopped), HasSubstr("allowed: budget"));
  EXPECT_THAT(complaint_after({{"stopped", ""}}, stopped),
              HasSubstr("field \"rounds_done\" is 15; allowed: 20, because the state is finished"));
  EXPECT_THAT(complaint_after({{"budget", 0}}, stopped), HasSubstr("empty, because there is no budget"));
  EXPECT_THAT(complaint_after({{"rounds_done", 20}}, stopped),
              HasSubstr("empty, because no round is missing"));
  EXPECT_THAT(complaint_after({{"rounds_done", 0}}, stopped), HasSubstr("field \"rounds_done\" is 0"));
  EXPECT_THAT(complaint_after({{"state", "running"}}, stopped),
              HasSubstr("field \"stopped\" is \"budget\"; allowed: empty, because the state is running"));
}

TEST(PrivacyRecord, AnUnfinishedRunClaimsNothing) {
  Summary planned = unfinished("fedavg", 1, 3);
  planned.policy = "record";
  planned.privacy = PrivacyClaim{.unit = "record"};
  EXPECT_EQ(complaint_after({}, planned), "");
  EXPECT_THAT(complaint_after({{"epsilon_rdp", 1}, {"epsilon_pld", 1}}, planned),
              HasSubstr("field \"epsilon_rdp\" is 1; allowed: null, because the state is interrupted"));
}

}  // namespace
}  // namespace fedarena::results
