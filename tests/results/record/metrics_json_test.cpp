// What evaluations say beside the accuracy, in rounds.jsonl and summary.json.
#include <limits>

#include "results/record/record.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/record_samples.hpp"

namespace fedarena::results {
namespace {

TEST(MetricsJson, OfARoundAreWrittenBesideTheRest) {
  const std::string line = to_json_line(sample_rounds().at("measured-round"));
  EXPECT_THAT(line, HasSubstr(R"("macro_f1":0.25,"class_accuracy":[0.5,null,1.0],"validation_loss":0.5,)"
                              R"("validation_accuracy":0.875,"clients_tested":9,"client_accuracy_mean":0.75,)"
                              R"("client_accuracy_worst":0.5,"client_accuracy_std":0.125,)"
                              R"("client_macro_f1_mean":0.625,"gradients":640,"operations":0})"));
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

}  // namespace
}  // namespace fedarena::results
