#include "results/record/test_metrics.hpp"

#include <cmath>
#include <vector>

#include "results/audit/verify.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/record_samples.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

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
      {0, 7, 0.5, 0.4}, {1, 1, 1, 0.9}, {4, 2, 0.75, 0.2, {}, true}, {5, 99, 0.25, 0.5}};
  const ClientMetrics metrics = client_metrics(scores);
  EXPECT_EQ(metrics.tested, 4);
  EXPECT_DOUBLE_EQ(metrics.accuracy_mean, 0.625);
  EXPECT_DOUBLE_EQ(metrics.accuracy_worst, 0.25);
  EXPECT_DOUBLE_EQ(metrics.accuracy_std, std::sqrt((2 * 0.125 * 0.125 + 2 * 0.375 * 0.375) / 4));
  EXPECT_DOUBLE_EQ(metrics.macro_f1_mean, 0.5);
  EXPECT_EQ(metrics.diverged, 1);
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

// The scores of single clients, and that a run's means over clients follow from them.
const ClientScores kScores = two_scores();

class ClientScoresTest : public WithFolder {};

TEST_F(ClientScoresTest, AreOneLineAClient) {
  EXPECT_EQ(to_json_text(kScores), R"({
"schema": 1,
"round": 4,
"clients": [
{"client":0,"test_examples":12,"accuracy":0.75,"macro_f1":0.5},
{"client":2,"test_examples":7,"accuracy":1.0,"macro_f1":0.875}
]
}
)");
  EXPECT_EQ(parse_client_scores(to_json_text(kScores), ""), kScores);
  ClientScores diverged = kScores;
  diverged.clients[1].diverged = true;
  EXPECT_THAT(to_json_text(diverged), HasSubstr(R"("macro_f1":0.875,"diverged":true})"));
  EXPECT_EQ(parse_client_scores(to_json_text(diverged), ""), diverged);
}

ClientScores with_errors(double second) {
  return {
      4,
      {{.client = 0, .test_examples = 12, .rmse = 1.5}, {.client = 2, .test_examples = 7, .rmse = second}}};
}

TEST_F(ClientScoresTest, OfRegressionDataAreErrors) {
  const std::string text = to_json_text(with_errors(kInfinity));
  EXPECT_THAT(text, HasSubstr(R"({"client":0,"test_examples":12,"rmse":1.5},
{"client":2,"test_examples":7,"rmse":"inf"})"));
  EXPECT_EQ(parse_client_scores(text, ""), with_errors(kInfinity));
  const std::string mixed = replaced(text, R"("rmse":"inf")", R"("accuracy":1.0,"macro_f1":1.0)");
  expect_refused("field \"rmse\" is missing", [&] { parse_client_scores(mixed, "clients.json"); });
}

// A finished run of three clients of which two were tested after every round.
class TestedRun : public WithFolder {
 protected:
  TestedRun() {
    const ClientMetrics metrics = client_metrics(kScores.clients);
    run_.test_clients([&](RoundRecord& round) { round.per_client = metrics; });
    run_.change_summary([&](Summary& summary) {
      summary.per_client = metrics;
      summary.best_round = best_over_rounds(std::vector{EvaluatedRound{1, metrics}});
    });
    run_.open().write_client_scores(kScores);
  }

  const RecordedRun run_{folder_ / "run", {.policy = "none"}};
};

TEST_F(TestedRun, HasTheMeansThatItsScoresGive) {
  EXPECT_EQ(run_.open().client_scores(), kScores);
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kClientsFile, "\"accuracy\":0.75", "\"accuracy\":0.8125");
  const std::vector<std::string> lines = run_.differences();
  EXPECT_THAT(lines,
              Contains(HasSubstr("rounds.jsonl: round 4 client_accuracy_worst is 0.75; recomputed: 0.8125")));
  EXPECT_THAT(lines, Contains(HasSubstr("round 4 client_accuracy_mean is 0.875; recomputed: 0.90625")));
}

TEST_F(ClientScoresTest, GiveTheErrorsOfTheirRound) {
  const RecordedRun run(folder_ / "run", {.policy = "none"});
  const ClientErrors errors = client_errors(with_errors(2.5).clients);
  run.test_clients([&](RoundRecord& round) { round.client_errors = errors; });
  EXPECT_THAT(run.differences(), Contains(HasSubstr("clients_tested is absent; recomputed: errors")));
  run.change_summary([&](Summary& summary) { summary.client_errors = errors; });
  run.open().write_client_scores(with_errors(2.5));
  EXPECT_THAT(run.differences(), IsEmpty());
  run.edit(kSummaryFile, "\"client_rmse_worst\": 2.5", "\"client_rmse_worst\": 2.25");
  EXPECT_THAT(run.differences(), ElementsAre("summary.json: client_rmse_worst is 2.25; recomputed: 2.5"));
  run.edit(kSummaryFile, "\"client_rmse_worst\": 2.25", "\"client_rmse_worst\": 2.5");
  // Of two clients' errors of mean 2, neither is above 4.
  run.change_rounds([](RoundRecord& round) {
    if (round.round == 1) round.client_errors->rmse_std = 9;
    if (round.round == 2) round.client_errors->rmse_worst = 1;
    if (round.round == 3) round.client_errors->rmse_worst = 5;
  });
  EXPECT_THAT(
      run.differences(),
      ElementsAre("rounds.jsonl: client_rmse_std of round 1 is 9; recomputed: at most 2.8284271247461903",
                  "rounds.jsonl: client_rmse_worst of round 2 and 1 more is 1; recomputed: 2 to 4"));
  run.change_rounds([&](RoundRecord& round) { round.client_errors = errors; });
  run.edit(kClientsFile, "\"rmse\":1.5", "\"rmse\":0.5");
  EXPECT_THAT(run.differences(),
              Contains(HasSubstr("rounds.jsonl: round 4 client_rmse_mean is 2; recomputed: 1.5")));
  run.open().write_client_scores(kScores);
  EXPECT_THAT(run.differences(), ElementsAre("clients.json: clients is accuracies; recomputed: errors"));
}

TEST_F(TestedRun, HasTheScoresOfItsLastRound) {
  run_.edit(kClientsFile, "\"round\": 4", "\"round\": 3");
  EXPECT_THAT(run_.differences(), ElementsAre("clients.json: round is 3; recomputed: 4"));
}

TEST_F(TestedRun, HasScoresOfClientsThatThereAre) {
  run_.edit(kClientsFile, "\"client\":2", "\"client\":3");
  EXPECT_THAT(run_.differences(),
              ElementsAre("clients.json: client is 3; recomputed: below 3, the number of clients"));
}

TEST_F(TestedRun, HasNoScoresThatExamplesDoNotGive) {
  run_.edit(kClientsFile, "\"test_examples\":12", "\"test_examples\":11");
  EXPECT_THAT(run_.differences(),
              ElementsAre("clients.json: accuracy of client 0 is 0.75; recomputed: a part of 11 examples"));
}

TEST_F(TestedRun, TestsTheSameClientsAfterEveryRound) {
  run_.change_rounds([](RoundRecord& round) {
    if (round.round == 2) round.per_client->tested = 3;
    if (round.round == 3) round.per_client->accuracy_worst = 1;
    // Half of them at 0 and half at 1 deviate by 0.5 from their mean; here it is 0.875.
    if (round.round == 1) round.per_client->accuracy_std = 0.5;
  });
  EXPECT_THAT(
      run_.differences(),
      ElementsAre(
          "rounds.jsonl: client_accuracy_std of round 1 is 0.5; recomputed: at most 0.33071891388307384",
          "rounds.jsonl: client_accuracy_worst of round 3 is 1; recomputed: at most the mean 0.875",
          "rounds.jsonl: clients_tested of round 2 is 3; recomputed: 2, as after the last test"));
}

TEST_F(TestedRun, HasNoScoresOfClientsThatNeverTrain) {
  run_.edit(kExperimentFile, "every = 1\n", "every = 1\nheld_out_clients = 0.7\n");
  EXPECT_THAT(difference_lines(verify_ledger(run_.path())),
              Contains(HasSubstr("is in clients.json; recomputed: nowhere")));
}

TEST_F(TestedRun, IsNotedWhereScoresAreMissing) {
  const std::int64_t values = verify_run(run_.path()).values;
  std::filesystem::remove(run_.path() / kClientsFile);
  EXPECT_THAT(run_.differences(), IsEmpty());
  EXPECT_EQ(verify_run(run_.path()).values, values - 21);
  EXPECT_THAT(verify_run(run_.path()).notes,
              Contains(HasSubstr("has no clients.json, so the means over clients are not recomputed")));
}

// After a crash the file may be ahead of the rounds that a resumed run goes on from.
TEST_F(ClientScoresTest, OfAnUnfinishedRunMayBeOfARoundThatIsRunAgain) {
  const RecordedRun run(folder_ / "run", {.policy = "none", .finished = false});
  run.open().write_client_scores({9, kScores.clients});
  EXPECT_THAT(verify_run(run.path()).differences, IsEmpty());
}

TEST_F(TestedRun, IsRefusedWhereScoresAreDamaged) {
  put(run_.path() / kClientsFile, "{");
  expect_refused("clients.json:1:", [&] { verify_run(run_.path()); });
}

}  // namespace
}  // namespace fedarena::results
