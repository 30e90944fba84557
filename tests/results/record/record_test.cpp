#include "results/record/record.hpp"

#include <cmath>

#include "results/record/json_fields.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/record_samples.hpp"

namespace fedarena::results {
namespace {

TEST(Record, WritesARoundAsOneLine) {
  EXPECT_EQ(
      to_json_line(round_record(3)),
      R"({"round":3,"test_loss":0.25,"test_accuracy":0.75,"clients":10,"examples":640,"uplink_bytes":40960,)"
      R"("downlink_bytes":81920,"train_seconds":1.5,"evaluation_seconds":0.125,"epsilon":null,)"
      R"("gradients":640,"operations":0})");
}

// What evaluations and algorithms say beside the rest.
TEST(Record, WritesWhatARoundMayHold) {
  const auto line = [](const char* sample) { return to_json_line(sample_rounds().at(sample)); };
  EXPECT_THAT(line("measured-round"),
              HasSubstr(R"("macro_f1":0.25,"class_accuracy":[0.5,null,1.0],"validation_loss":0.5,)"
                        R"("validation_accuracy":0.875,"clients_tested":9,"client_accuracy_mean":0.75,)"
                        R"("client_accuracy_worst":0.5,"client_accuracy_std":0.125,)"
                        R"("client_macro_f1_mean":0.625,"gradients":640,"operations":0})"));
  EXPECT_THAT(line("regression-round"),
              HasSubstr(R"("clients_tested":4,"client_rmse_mean":2.5,"client_rmse_worst":"inf",)"
                        R"("client_rmse_std":0.5,"gradients":640,"operations":0})"));
  EXPECT_THAT(line("observed-round"), HasSubstr(R"("observed":{"matching-loss":0.1,"radius":"inf"},)"
                                                R"("choices":[[2,0],[7,3]]})"));
}

TEST(Record, LossesThatAreNotFiniteComeBack) {
  RoundRecord record = round_record(1);
  record.test_loss = std::nan("");
  EXPECT_TRUE(std::isnan(*parse_round(to_json_line(record), {}).test_loss));
  for (const double loss : {kInfinity, -kInfinity}) {
    record.test_loss = loss;
    EXPECT_EQ(parse_round(to_json_line(record), {}).test_loss, loss);
  }
  Summary summary = finished("fedavg", 1, 0.1);
  summary.final_test_loss = std::nan("");
  summary.tuning = tuned_by(6);
  summary.tuning->criterion = kByValidationLoss;
  summary.tuning->score = std::nullopt;
  const Summary read = parse_summary(to_json_text(summary), "");
  EXPECT_TRUE(std::isnan(*read.final_test_loss));
  EXPECT_EQ(read.tuning->score, std::nullopt);
}

TEST(Record, WritesASummaryThatReadsLikeItsStruct) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.dataset_note = "synthetic";
  summary.algorithm_parameters = {{"lr", "0.1"}, {"epochs", "5"}};
  EXPECT_EQ(to_json_text(summary), R"json({
  "schema": 2,
  "experiment": "quickstart",
  "label": "fedavg",
  "algorithm": "fedavg",
  "dataset": "digits",
  "dataset_note": "synthetic",
  "data_hash": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
  "partition": "iid",
  "partition_id": "iid(clients=10,seed=1)",
  "partition_hash": "000000000000abc1",
  "model": "mlp",
  "seed": 1,
  "rounds": 20,
  "rounds_done": 20,
  "clients": 10,
  "parameters": 1000,
  "state": "finished",
  "final_test_accuracy": 0.5,
  "final_test_loss": 0.5,
  "policy": "none",
  "uplink_bytes": 819200,
  "downlink_bytes": 1638400,
  "uplink_bytes_per_client_round": 4096.0,
  "downlink_bytes_per_client_round": 8192.0,
  "seconds": 12.5,
  "examples": 0,
  "gradients": 0,
  "operations": 0,
  "algorithm_parameters": {
    "lr": "0.1",
    "epochs": "5"
  }
}
)json");
}

TEST(Record, WritesPrivacyAsFlatFieldsAfterThePolicy) {
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

TEST(Record, WritesListsOfBudgets) {
  const Json json = Json::parse(to_json_text(sample_summaries().at("budgets")));
  EXPECT_EQ(json["budget"], Json({1.0, 2.5}));
  EXPECT_EQ(json["spent_clients"], 3);
}

TEST(Record, WritesATuningAsAnObject) {
  EXPECT_THAT(to_json_text(sample_summaries().at("tuned")), HasSubstr(R"(
  "tuning": {
    "search": "grid",
    "trials": 6,
    "seed": 0,
    "chosen": {
      "training.rate": "0.1"
    },
    "criterion": "validation accuracy",
    "score": 0.7123,
    "examples": 48000,
    "seconds": 12.3
  },
)"));
}

TEST(Record, WritesNamesThatAreNotUtf8) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.dataset = "caf\xE9";
  EXPECT_EQ(parse_summary(to_json_text(summary), "").dataset, "caf\xEF\xBF\xBD");
}

TEST(Record, WritingWhatCouldNotBeReadIsABug) {
  RoundRecord record = round_record(1);
  record.clients = -1;
  EXPECT_THROW(to_json_line(record), Bug);
  Summary summary = finished("fedavg", 1, 0.5);
  summary.state = "done";
  EXPECT_THROW(to_json_text(summary), Bug);
  summary = finished("fedavg", 1, 0.5);
  summary.algorithm_parameters = {{"lr", "0.1"}, {"lr", "0.2"}};
  EXPECT_THROW(to_json_text(summary), Bug);
}

TEST(Record, PointsAtBrokenJson) {
  expect_refused("summary.json:2:13: not valid JSON",
                 [] { parse_summary("{\n  \"schema\": ,\n}", "summary.json"); });
  expect_refused("summary.json:1:1: not valid JSON", [] { parse_summary("", "summary.json"); });
  expect_refused("holds [1]; allowed: one JSON object", [] { parse_summary("[1]", "summary.json"); });
  expect_refused("out of range", [] { parse_summary("{\"schema\": 1e999}", "summary.json"); });
  expect_refused("rounds.jsonl:7:2: not valid JSON",
                 [] { parse_round("{", {.file = "rounds.jsonl", .line = 7}); });
}

TEST(Record, QuotesLongValuesInPart) {
  const auto complaint = [](const std::string& seed) {
    const std::string text =
        replaced(to_json_text(finished("fedavg", 1, 0.5)), "\"seed\": 1", "\"seed\": \"" + seed + "\"");
    return message_of([&] { parse_summary(text, ""); });
  };
  // Half code points are not JSON.
  EXPECT_THAT(complaint(std::string(40, 'x') + std::string(100, '\xC3')), HasSubstr("not valid JSON"));
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "é";
  EXPECT_THAT(complaint(accents), HasSubstr("éé..."));
}

}  // namespace
}  // namespace fedarena::results
