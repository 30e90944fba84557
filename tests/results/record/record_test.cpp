#include "results/record/record.hpp"

#include <cmath>
#include <limits>

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

std::string summary_complaint(const std::string& from, const std::string& to) {
  const std::string text = replaced(to_json_text(finished("fedavg", 1, 0.5)), from, to);
  return message_of([&] { parse_summary(text, "runs/a/summary.json"); });
}

std::string round_complaint(const std::string& from, const std::string& to) {
  const std::string text = replaced(to_json_line(round_record(3)), from, to);
  return message_of([&] { parse_round(text, {.file = "rounds.jsonl", .line = 3}); });
}

TEST(Record, WritesARoundAsOneLine) {
  EXPECT_EQ(
      to_json_line(round_record(3)),
      R"({"round":3,"test_loss":0.25,"test_accuracy":0.75,"clients":10,"examples":640,"uplink_bytes":40960,)"
      R"("downlink_bytes":81920,"train_seconds":1.5,"evaluation_seconds":0.125,"epsilon":null,)"
      R"("gradients":640,"operations":0})");
}

TEST(Record, RoundsComeBackAsTheyWent) {
  RoundRecord record = round_record(1);
  EXPECT_EQ(parse_round(to_json_line(record), {}), record);
  record.test_loss = std::nullopt;
  record.test_accuracy = std::nullopt;
  record.uplink_bytes = std::numeric_limits<std::int64_t>::max();
  record.train_seconds = 0.1 + 0.2;
  for (const double epsilon : {0.0, 2.78664, kInfinity}) {
    record.epsilon = epsilon;
    EXPECT_EQ(parse_round(to_json_line(record), {}), record);
  }
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
  EXPECT_TRUE(std::isnan(*parse_summary(to_json_text(summary), "").final_test_loss));
}

TEST(Record, WritesASummaryThatReadsLikeItsStruct) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.dataset_note = "synthetic";
  summary.algorithm_parameters = {{"lr", "0.1"}, {"epochs", "5"}};
  EXPECT_EQ(to_json_text(summary), R"({
  "schema": 2,
  "experiment": "quickstart",
  "label": "fedavg",
  "algorithm": "fedavg",
  "dataset": "digits",
  "dataset_note": "synthetic",
  "partition": "iid",
  "partition_id": "",
  "partition_hash": "",
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
)");
}

TEST(Record, SummariesComeBackAsTheyWent) {
  Summary summary = finished("fedavg", 7, 1.0 / 3);
  summary.dataset_note = "a \"note\"\nof two lines, é";
  summary.algorithm_parameters = {{"z", "1"}, {"a", "2"}};
  EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
  const Summary started = unfinished("fedavg", 1, 0);
  EXPECT_EQ(parse_summary(to_json_text(started), ""), started);
}

TEST(Record, RegressionDataHaveNoAccuracy) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.final_test_accuracy = std::nullopt;
  EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
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

TEST(Record, ComplaintsNameFileAndField) {
  EXPECT_EQ(summary_complaint("\"seed\": 1", "\"seed\": \"one\""),
            "runs/a/summary.json: field \"seed\" is \"one\"; allowed: a whole number from 0\n"
            "  the file is damaged or was edited; restore it, or run this cell again");
  EXPECT_THAT(round_complaint("\"round\":3", "\"round\":0"),
              HasSubstr("rounds.jsonl:3: field \"round\" is 0; allowed: a whole number from 1"));
}

TEST(Record, RefusesAnotherSchema) {
  for (const char* schema : {"1", "3"}) {
    EXPECT_THAT(
        summary_complaint("\"schema\": 2", std::string("\"schema\": ") + schema),
        HasSubstr(std::string("field \"schema\" is ") + schema +
                  ", and this build reads 2: run the experiment again, or take the build that wrote it"));
  }
}

TEST(Record, RefusesMissingAndUnknownFields) {
  EXPECT_THAT(summary_complaint("\"clients\": 10,", ""), HasSubstr("field \"clients\" is missing"));
  EXPECT_THAT(summary_complaint("\"clients\": 10,", "\"clients\": 10, \"client\": 9,"),
              HasSubstr("field \"client\" is unknown; did you mean \"clients\"?"));
  EXPECT_THAT(round_complaint("\"clients\":10,", ""), HasSubstr("field \"clients\" is missing"));
}

TEST(Record, RefusesValuesOfAnotherType) {
  EXPECT_THAT(summary_complaint("\"digits\"", "[\"digits\"]"),
              HasSubstr("field \"dataset\" is [\"digits\"]; allowed: a text"));
  EXPECT_THAT(summary_complaint("\"clients\": 10", "\"clients\": 10.5"),
              HasSubstr("field \"clients\" is 10.5"));
  EXPECT_THAT(summary_complaint("\"seed\": 1", "\"seed\": 9223372036854775808"), HasSubstr("field \"seed\""));
  EXPECT_THAT(summary_complaint("\"seconds\": 12.5", "\"seconds\": -1"),
              HasSubstr("field \"seconds\" is -1"));
  EXPECT_THAT(summary_complaint("\"algorithm_parameters\": {}", "\"algorithm_parameters\": {\"lr\": 1}"),
              HasSubstr("allowed: an object of texts"));
  EXPECT_THAT(summary_complaint("\"algorithm_parameters\": {}", "\"algorithm_parameters\": 1"),
              HasSubstr("allowed: an object of texts"));
  EXPECT_THAT(round_complaint("0.25", "true"), HasSubstr("field \"test_loss\" is true; allowed: a number"));
  EXPECT_THAT(round_complaint("0.75", "1.5"),
              HasSubstr("field \"test_accuracy\" is 1.5; allowed: a fraction"));
}

TEST(Record, RefusesAStateThatContradictsItself) {
  EXPECT_THAT(summary_complaint("\"finished\"", "\"finnished\""),
              HasSubstr("allowed: running, interrupted, failed, finished"));
  EXPECT_THAT(summary_complaint("\"finished\"", "\"running\""),
              HasSubstr("field \"final_test_accuracy\" is 0.5; allowed: null, because the state is running"));
  EXPECT_THAT(summary_complaint("\"rounds_done\": 20", "\"rounds_done\": 12"),
              HasSubstr("field \"rounds_done\" is 12; allowed: 20, because the state is finished"));
  EXPECT_THAT(summary_complaint("\"rounds_done\": 20", "\"rounds_done\": 21"),
              HasSubstr("at most the 20 planned"));
  EXPECT_THAT(summary_complaint("\"finished\"", "\"interrupted\""),
              HasSubstr("because the state is interrupted"));
  EXPECT_THAT(summary_complaint("\"final_test_loss\": 0.5", "\"final_test_loss\": null"),
              HasSubstr("field \"final_test_loss\" is null; allowed: a number"));
}

TEST(Record, SaysWhyARunFailedAndOfNoOtherThatItDid) {
  Summary failed = unfinished("fedavg", 1, 3);
  failed.state = kFailed;
  failed.failure = "it threw a stone";
  EXPECT_EQ(parse_summary(to_json_text(failed), ""), failed);
  EXPECT_EQ(state_text(failed), "failed");
  EXPECT_THAT(summary_complaint("\"finished\"", "\"finished\", \"failure\": \"x\""),
              HasSubstr("field \"failure\" is \"x\"; allowed: absent, because the state is finished"));
}

TEST(Record, PointsAtBrokenJson) {
  EXPECT_THAT(message_of([] { parse_summary("{\n  \"schema\": ,\n}", "summary.json"); }),
              HasSubstr("summary.json:2:13: not valid JSON"));
  EXPECT_THAT(message_of([] { parse_summary("", "summary.json"); }),
              HasSubstr("summary.json:1:1: not valid JSON"));
  EXPECT_THAT(message_of([] { parse_summary("[1]", "summary.json"); }),
              HasSubstr("holds [1]; allowed: one JSON object"));
  EXPECT_THAT(message_of([] { parse_summary("{\"schema\": 1e999}", "summary.json"); }),
              HasSubstr("out of range"));
  EXPECT_THAT(message_of([] { parse_round("{", {.file = "rounds.jsonl", .line = 7}); }),
              HasSubstr("rounds.jsonl:7:2: not valid JSON"));
}

TEST(Record, QuotesLongValuesInPart) {
  const std::string complaint = summary_complaint(
      "\"seed\": 1", "\"seed\": \"" + std::string(40, 'x') + std::string(100, '\xC3') + "\"");
  EXPECT_THAT(complaint, HasSubstr("not valid JSON"));  // half code points are not JSON
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "é";
  EXPECT_THAT(summary_complaint("\"seed\": 1", "\"seed\": \"" + accents + "\""), HasSubstr("éé..."));
}

}  // namespace
}  // namespace fedarena::results
