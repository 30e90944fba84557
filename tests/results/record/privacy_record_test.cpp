// What a summary states about privacy, and what it must not.

#include "results/record/json_fields.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/record_samples.hpp"

namespace fedarena::results {
namespace {

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

TEST(PrivacyRecord, HoldsListsOfBudgets) {
  const Json json = Json::parse(to_json_text(sample_summaries().at("budgets")));
  EXPECT_EQ(json["budget"], Json({1.0, 2.5}));
  EXPECT_EQ(json["spent_clients"], 3);
}

TEST(PrivacyRecord, EveryFieldIsThereOrNone) {
  const Json json = Json::parse(to_json_text(finished_privately("fedavg", 1, 0.5)));
  const Json plain = Json::parse(to_json_text(finished("fedavg", 1, 0.5)));
  EXPECT_EQ(json.size(), plain.size() + 25);
}

}  // namespace
}  // namespace fedarena::results
