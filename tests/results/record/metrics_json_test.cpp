// What evaluations say beside the accuracy, in rounds.jsonl and summary.json.
#include <limits>

#include "results/record/record.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

constexpr ClientMetrics kClients{
    .tested = 9, .accuracy_mean = 0.75, .accuracy_worst = 0.5, .accuracy_std = 0.125, .macro_f1_mean = 0.625};

RoundRecord measured_round() {
  RoundRecord record = round_record(3);
  record.classes = ClassMetrics{.accuracy = {0.5, std::nullopt, 1.0}, .macro_f1 = 0.25};
  record.validation_loss = 0.5;
  record.validation_accuracy = 0.875;
  record.per_client = kClients;
  return record;
}

Summary measured_summary() {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.per_client = kClients;
  summary.best_round = BestOverRounds{0.8, 12, 0.7, 14};
  return summary;
}

TEST(MetricsJson, OfARoundAreWrittenBesideTheRest) {
  const std::string line = to_json_line(measured_round());
  EXPECT_THAT(line, HasSubstr(R"("macro_f1":0.25,"class_accuracy":[0.5,null,1.0],"validation_loss":0.5,)"
                              R"("validation_accuracy":0.875,"clients_tested":9,"client_accuracy_mean":0.75,)"
                              R"("client_accuracy_worst":0.5,"client_accuracy_std":0.125,)"
                              R"("client_macro_f1_mean":0.625,"gradients":640,"operations":0})"));
  EXPECT_EQ(parse_round(line, {}), measured_round());
}

TEST(MetricsJson, OfRegressionDataHaveErrorsOfClients) {
  RoundRecord record = round_record(3);
  record.test_accuracy.reset();
  record.client_errors = ClientErrors{
      .tested = 4, .rmse_mean = 2.5, .rmse_worst = std::numeric_limits<double>::infinity(), .rmse_std = 0.5};
  const std::string line = to_json_line(record);
  EXPECT_THAT(line, HasSubstr(R"("clients_tested":4,"client_rmse_mean":2.5,"client_rmse_worst":"inf",)"
                              R"("client_rmse_std":0.5,"gradients":640,"operations":0})"));
  EXPECT_EQ(parse_round(line, {}), record);
  Summary summary = finished("fedavg", 1, 0.5);
  summary.final_test_accuracy.reset();
  summary.client_errors = record.client_errors;
  EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
  const std::string running = replaced(to_json_text(summary), "\"finished\"", "\"running\"");
  EXPECT_FALSE(message_of([&] { parse_summary(running, ""); }).empty());
}

TEST(MetricsJson, HoldWhatAnAlgorithmObserved) {
  RoundRecord record = round_record(3);
  record.observed = {{"matching-loss", 0.1}, {"radius", std::numeric_limits<double>::infinity()}};
  const std::string line = to_json_line(record);
  EXPECT_THAT(line, HasSubstr(R"("observed":{"matching-loss":0.1,"radius":"inf"})"));
  EXPECT_EQ(parse_round(line, {}), record);
  record.choices = {{2, 0}, {7, 3}};
  EXPECT_THAT(to_json_line(record), HasSubstr("\"choices\":[[2,0],[7,3]]"));
  EXPECT_EQ(parse_round(to_json_line(record), {}), record);
  record.choices.clear();
  record.observed.clear();
  EXPECT_THAT(to_json_line(record), Not(HasSubstr("observed")));
}

TEST(MetricsJson, OfARunComeBack) {
  EXPECT_EQ(parse_summary(to_json_text(measured_summary()), ""), measured_summary());
}

TEST(MetricsJson, ARunThatARuleStoppedHasFewerRounds) {
  Summary summary = finished("fedavg", 1, 0.5);
  summary.rounds_done = 7;
  for (const std::string_view rule : {kStoppedByTarget, kStoppedByPatience}) {
    summary.stopped = rule;
    EXPECT_EQ(parse_summary(to_json_text(summary), ""), summary);
  }
}

TEST(MetricsJson, RefuseWhatCannotBe) {
  const auto refused = [](const std::string& from, const std::string& to) {
    const std::string line = replaced(to_json_line(measured_round()), from, to);
    return message_of([&] { parse_round(line, {.file = "rounds.jsonl", .line = 3}); });
  };
  EXPECT_THAT(
      refused("[0.5,null,1.0]", "[0.5,2]"),
      HasSubstr(
          R"(rounds.jsonl:3: field "class_accuracy" is [0.5,2]; allowed: a list of fractions from 0 to 1 or null)"));
  EXPECT_THAT(refused(R"("macro_f1":0.25)", R"("macro_f1":1.5)"), HasSubstr("a fraction from 0 to 1"));
  EXPECT_THAT(refused(R"("clients_tested":9)", R"("clients_tested":0)"), HasSubstr("a whole number from 1"));
  EXPECT_THAT(refused(R"("client_accuracy_std":0.125,)", ""),
              HasSubstr(R"("client_accuracy_std" is missing)"));
  const std::string running =
      replaced(to_json_text(measured_summary()), R"("state": "finished")", R"("state": "running")");
  EXPECT_FALSE(message_of([&] { parse_summary(running, ""); }).empty());
}

}  // namespace
}  // namespace fedarena::results
