#include "results/record/test_metrics.hpp"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

using testing::ElementsAre;

TEST(MacroF1, IsTheMeanOverClassesThatOccur) {
  // Truth a a a b, answers a b a a: a has precision 2/3 and recall 2/3, b neither; c occurs nowhere.
  const std::vector<ClassCount> counts = {{3, 3, 2}, {1, 1, 0}, {0, 0, 0}};
  EXPECT_DOUBLE_EQ(macro_f1(counts), (2.0 / 3 + 0) / 2);
  // Precision 1/2 and recall 1/4 have the harmonic mean 1/3.
  EXPECT_DOUBLE_EQ(macro_f1(std::vector<ClassCount>{{4, 2, 1}}), 1.0 / 3);
  // A class that is only ever a wrong answer counts.
  EXPECT_DOUBLE_EQ(macro_f1(std::vector<ClassCount>{{2, 1, 1}, {0, 1, 0}}), (2.0 / 3) / 2);
  EXPECT_EQ(macro_f1({}), 0);
}

TEST(ClassMetrics, HaveNoAccuracyWhereThereIsNoExample) {
  const ClassMetrics metrics = class_metrics(std::vector<ClassCount>{{4, 2, 1}, {0, 2, 0}});
  EXPECT_THAT(metrics.accuracy, ElementsAre(0.25, std::nullopt));
  EXPECT_DOUBLE_EQ(metrics.macro_f1, (1.0 / 3) / 2);
}

TEST(ClientMetrics, CountEveryClientAlike) {
  const std::vector<ClientScore> scores = {
      {0, 7, 0.5, 0.4}, {1, 1, 1, 0.9}, {4, 2, 0.75, 0.2}, {5, 99, 0.25, 0.5}};
  const ClientMetrics metrics = client_metrics(scores);
  EXPECT_EQ(metrics.tested, 4);
  EXPECT_DOUBLE_EQ(metrics.accuracy_mean, 0.625);
  EXPECT_DOUBLE_EQ(metrics.accuracy_worst, 0.25);
  EXPECT_DOUBLE_EQ(metrics.accuracy_std, std::sqrt((2 * 0.125 * 0.125 + 2 * 0.375 * 0.375) / 4));
  EXPECT_DOUBLE_EQ(metrics.macro_f1_mean, 0.5);
  EXPECT_EQ(client_metrics(std::vector<ClientScore>{{0, 1, 0.3, 0.1}}).accuracy_std, 0);
}

ClientScore error_of(std::int64_t client, double rmse) {
  return {.client = client, .test_examples = 3, .rmse = rmse};
}

TEST(ClientErrors, CountEveryClientAlike) {
  const ClientErrors errors =
      client_errors(std::vector{error_of(0, 2), error_of(3, 8), error_of(4, 3), error_of(9, 3)});
  EXPECT_EQ(errors.tested, 4);
  EXPECT_DOUBLE_EQ(errors.rmse_mean, 4);
  EXPECT_DOUBLE_EQ(errors.rmse_worst, 8);
  EXPECT_DOUBLE_EQ(errors.rmse_std, std::sqrt((4.0 + 16 + 1 + 1) / 4));
  EXPECT_EQ(client_errors(std::vector{error_of(0, 2)}).rmse_std, 0);
}

TEST(ClientErrors, OfAModelThatDivergedForOneAreNotHidden) {
  const double nan = std::nan("");
  for (const auto& clients : {std::vector{error_of(0, nan), error_of(1, HUGE_VAL), error_of(2, 1)},
                              std::vector{error_of(0, 1), error_of(1, HUGE_VAL), error_of(2, nan)}}) {
    EXPECT_TRUE(std::isnan(client_errors(clients).rmse_worst));
    EXPECT_TRUE(std::isnan(client_errors(clients).rmse_mean));
  }
  EXPECT_EQ(client_errors(std::vector{error_of(0, 1), error_of(1, HUGE_VAL)}).rmse_worst, HUGE_VAL);
}

TEST(BestOverRounds, NamesTheFirstRoundOfEachLargestMean) {
  const auto round = [](std::int64_t number, double accuracy, double f1) {
    return EvaluatedRound{number, {.tested = 1, .accuracy_mean = accuracy, .macro_f1_mean = f1}};
  };
  const BestOverRounds best =
      best_over_rounds(std::vector{round(2, 0.5, 0.7), round(4, 0.6, 0.1), round(6, 0.6, 0.2)});
  EXPECT_EQ(best.accuracy_mean, 0.6);
  EXPECT_EQ(best.accuracy_round, 4);
  EXPECT_EQ(best.macro_f1_mean, 0.7);
  EXPECT_EQ(best.macro_f1_round, 2);
}

}  // namespace
}  // namespace fedarena::results
