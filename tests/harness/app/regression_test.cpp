// A regression from the user's table to the printed one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/text/number_format.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// price = 3 * size + 5 in red and 3 * size + 1 in blue, without noise.
std::string prices() {
  std::string text = "size,colour,price\n";
  for (int size = 1; size <= 40; ++size)
    text +=
        fmt::format("{},{},{}\n", size, size % 2 == 0 ? "red" : "blue", 3 * size + (size % 2 == 0 ? 5 : 1));
  return text;
}

std::string experiment() {
  return SmallExperiment{
      .data =
          "csv\"\npath = \"prices.csv\"\ntarget = \"price\"\ntask = \"regression\"\ncategorical = \"colour",
      .seeds = "[1, 2]",
      .rounds = 60,
      .model = "name = \"linear\"",
      .evaluate_every = 20,
      .training = "local_steps = 5\nbatch_size = 8\nrate = 0.1",
      .algorithms = {"fedavg", "scaffold"}}
      .toml();
}

TEST(Regression, RunsFromACsvFileToATableOfErrors) {
  const Scratch scratch;
  scratch.write("prices.csv", prices());
  scratch.write("small.toml", experiment());
  const Outcome run = run_program(scratch, {"run", "small.toml", "--out", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("60 rounds, test loss "));

  const results::Summary summary = summary_of(scratch / "out/fedavg-seed-1");
  EXPECT_EQ(summary.state, results::kFinished);
  EXPECT_EQ(summary.final_test_accuracy, std::nullopt);
  EXPECT_EQ(
      summary.dataset,
      "csv (path = \"prices.csv\", target = \"price\", task = \"regression\", categorical = \"colour\")");
  ASSERT_TRUE(summary.final_test_loss.has_value());
  // Prices go from 4 to 125; a mean as the answer would be off by 35.
  const double error = std::sqrt(2 * *summary.final_test_loss);
  EXPECT_LT(error, 1);

  const Outcome markdown = run_program(scratch, {"table", "out"});
  EXPECT_EQ(markdown.exit_code, 0) << markdown.err;
  EXPECT_THAT(markdown.out, HasSubstr(" RMSE |"));
  EXPECT_THAT(markdown.out, Not(HasSubstr("accuracy")));
  const Outcome table = run_program(scratch, {"table", "out", "--format", "json"});
  const json rows = json::parse(table.out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0]["accuracy_mean"].is_null());
  const double other = std::sqrt(2 * *summary_of(scratch / "out/fedavg-seed-2").final_test_loss);
  EXPECT_DOUBLE_EQ(rows[0]["rmse_mean"].get<double>(), (error + other) / 2);
  EXPECT_THAT(run_program(scratch, {"list", "out"}).out, HasSubstr("RMSE " + results::measured(error)));

  const Outcome verified = run_program(scratch, {"verify", "out"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("verified: 4 runs"));
}

TEST(Regression, StopsByValidationLoss) {
  const Scratch scratch;
  scratch.write("prices.csv", prices());
  scratch.write("small.toml", experiment());
  const Outcome run =
      run_program(scratch, {"run", "small.toml", "--out", "out", "--only", "fedavg", "--set",
                            "evaluation.every=1", "--set", "evaluation.validation_fraction=0.25", "--set",
                            "stopping.patience=3", "--set", "stopping.improvement=0.5"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // No loss in single precision can halve sixty times.
  const results::Summary summary = summary_of(scratch / "out/fedavg-seed-1");
  EXPECT_EQ(summary.stopped, results::kStoppedByPatience);
  double best = HUGE_VAL;
  std::int64_t best_round = 0;
  for (const results::RoundRecord& round : rounds_of(scratch / "out/fedavg-seed-1")) {
    if (*round.validation_loss >= best / 2) continue;
    best = *round.validation_loss;
    best_round = round.round;
  }
  EXPECT_EQ(summary.rounds_done, best_round + 3);
  EXPECT_THAT(run_program(scratch, {"table", "out"}).out,
              HasSubstr("stopped without a better validation score"));
}

TEST(Regression, TestsEachClientOnItsOwnUsersExamples) {
  const Scratch scratch;
  // The model is one line for all, so that sellers differ in how far they are from it.
  std::string text = "size,seller,price\n", test = text;
  for (int size = 1; size <= 20; ++size) {
    for (const auto& [seller, extra] : {std::pair("a", 0), std::pair("b", 1), std::pair("c", 8)}) {
      (size % 4 == 0 ? test : text) += fmt::format("{},{},{}\n", size, seller, 3 * size + extra);
    }
  }
  scratch.write("prices.csv", text);
  scratch.write("later.csv", test);
  SmallExperiment small{.data =
                            "csv\"\npath = \"prices.csv\"\ntest_path = \"later.csv\"\ntarget = "
                            "\"price\"\nuser = \"seller\"\ntask = \"regression",
                        .seeds = "[1, 2]",
                        .rounds = 20,
                        .model = "name = \"mlp\"\nhidden = [4]",
                        .evaluate_every = 5,
                        .training = "local_steps = 5\nbatch_size = 5\nrate = 0.02",
                        .algorithms = {"fedavg"}};
  scratch.write("small.toml", small.toml());
  const Outcome run =
      run_program(scratch, {"run", "small.toml", "--out", "out", "--set", "partition.kind=by-user", "--set",
                            "partition.clients=3", "--set", "evaluation.per_client=true"});
  ASSERT_EQ(run.exit_code, 0) << run.err;

  const results::Summary summary = summary_of(scratch / "out/fedavg-seed-1");
  const json clients = json::parse(content_of(scratch / "out/fedavg-seed-1/clients.json"))["clients"];
  ASSERT_EQ(clients.size(), 3U);
  double sum = 0, squares = 0, worst = 0;
  for (const json& client : clients) {
    EXPECT_EQ(client["test_examples"], 5);
    const auto error = client["rmse"].get<double>();
    sum += error;
    squares += error * error;
    worst = std::max(worst, error);
  }
  ASSERT_TRUE(summary.client_errors);
  EXPECT_FALSE(summary.per_client);
  EXPECT_DOUBLE_EQ(summary.client_errors->rmse_mean, sum / 3);
  EXPECT_DOUBLE_EQ(summary.client_errors->rmse_worst, worst);
  // Clients have equally many test examples, all of them together: their squared errors average to the
  // whole's.
  EXPECT_NEAR(std::sqrt(squares / 3), std::sqrt(2 * *summary.final_test_loss), 1e-5);

  const Outcome table = run_program(scratch, {"table", "out"});
  EXPECT_THAT(table.out, HasSubstr("| clients (RMSE) | worst client (RMSE) |"));
  EXPECT_THAT(table.out, HasSubstr("Clients (RMSE): the mean over clients of the RMSE"));
  EXPECT_THAT(table.out, Not(HasSubstr("BMTA")));
  const Outcome chosen = run_program(scratch, {"table", "out", "--metric", "worst-client-rmse@round=10"});
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_THAT(chosen.out, HasSubstr("| worst client (RMSE) at round 10 |"));
  ASSERT_EQ(run_program(scratch, {"export", "out", "--format", "csv", "-o", "values.csv", "--measures",
                                  "client_rmse_worst"})
                .exit_code,
            0);
  EXPECT_THAT(content_of(scratch / "values.csv"),
              HasSubstr(",20,client_rmse_worst," + results::exact_number(worst) + "\n"));
  const Outcome verified = run_program(scratch, {"verify", "out"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST(Regression, RefusesATargetOfAccuracy) {
  const Scratch scratch;
  scratch.write("prices.csv", prices());
  scratch.write("small.toml", experiment());
  for (const std::string option : {"--out=out", "--dry-run"}) {
    const Outcome run =
        run_program(scratch, {"run", "small.toml", option, "--set", "stopping.target_accuracy=0.5", "--set",
                              "evaluation.validation_fraction=0.25"});
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err,
                HasSubstr("[stopping] target_accuracy is about accuracy, but the data set \"csv\" is "
                          "a regression\n  leave it out"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "out"));
  }
}

TEST(Regression, IsRunAgainFromTheSettingsThatACellRecorded) {
  const Scratch scratch;
  scratch.write("prices.csv", prices());
  scratch.write("small.toml", experiment());
  ASSERT_EQ(
      run_program(scratch, {"run", "small.toml", "--out", "out", "--set", "data.standardise=all"}).exit_code,
      0);
  EXPECT_THAT(content_of(scratch / "out/fedavg-seed-2/experiment.toml"), HasSubstr("standardise = \"all\""));
  const Outcome again = run_program(scratch, {"run", "out/fedavg-seed-2/experiment.toml", "--out", "again"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("note: the target is standardised; an error of 1 is "));
  expect_same_run(scratch / "out/fedavg-seed-2", scratch / "again/fedavg-seed-2");
}

TEST(Regression, ThatDivergedIsStillRecordedAndVerified) {
  const Scratch scratch;
  scratch.write("prices.csv", prices());
  scratch.write("small.toml", experiment());
  ASSERT_EQ(
      run_program(scratch, {"run", "small.toml", "--out", "out", "--set", "training.rate=1e30"}).exit_code,
      0);
  for (const char* format : {"markdown", "latex", "csv", "json"})
    EXPECT_EQ(run_program(scratch, {"table", "out", "--format", format}).exit_code, 0) << format;
  const Outcome verified = run_program(scratch, {"verify", "out"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST(Regression, UnderRecordLevelPrivacyHasAnEpsilon) {
  const Scratch scratch;
  scratch.write("prices.csv", prices());
  scratch.write("small.toml", experiment() + "\n[privacy]\npolicy = \"record\"\n");
  const Outcome run = run_program(scratch, {"run", "small.toml", "--out", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(summary_of(scratch / "out/fedavg-seed-1").privacy->rdp->epsilon.has_value());
  EXPECT_EQ(run_program(scratch, {"verify", "out"}).exit_code, 0);
}

TEST(Regression, ADataSettingThatIsWrongIsRefusedWithItsPlace) {
  const Scratch scratch;
  scratch.write("prices.csv", prices() + "41,red,lots\n");
  scratch.write("small.toml", experiment());
  const auto refusal = [&](const std::string& setting) {
    const Outcome outcome = run_program(scratch, {"run", "small.toml", "--out", "out", "--set", setting});
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refusal("data.task=regresion"),
            "fedarena: --set data.task=regresion: task is \"regresion\"; allowed: \"classification\", "
            "\"regression\"; did you mean \"regression\"?\n");
  EXPECT_EQ(refusal("data.target=\"\""),
            "fedarena: --set data.target=\"\": target is \"\"; allowed: the name of a column\n");
  EXPECT_EQ(
      refusal("data.user=price"),
      "fedarena: --set data.user=price: the column \"price\" is named twice; allowed: one role a column: "
      "features, categorical, target or user\n");
  EXPECT_EQ(refusal("data.seed=3"),
            "fedarena: --set data.seed=3: unknown key \"seed\" in [data]; allowed: name, path, target, task, "
            "features, "
            "categorical, user, test_path, test_fraction, standardise\n");
  EXPECT_THAT(refusal("data.user=colour"), HasSubstr("is named twice"));
  EXPECT_THAT(
      refusal("experiment.rounds=1"),
      HasSubstr("prices.csv:42:8: the field of column \"price\" is \"lots\"; allowed: a finite number"));
}

}  // namespace
}  // namespace fedarena::test
