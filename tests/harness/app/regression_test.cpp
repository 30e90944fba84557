// A regression from the user's table to the printed one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/text/number_format.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;

// price = 3 * size + 5 in red and 3 * size + 1 in blue, without noise.
std::string prices() {
  std::string text = "size,colour,price\n";
  for (int size = 1; size <= 40; ++size)
    text +=
        fmt::format("{},{},{}\n", size, size % 2 == 0 ? "red" : "blue", 3 * size + (size % 2 == 0 ? 5 : 1));
  return text;
}

SmallExperiment price_regression(const std::string& more = "") {
  return {
      .data =
          "csv\"\npath = \"prices.csv\"\ntarget = \"price\"\ntask = \"regression\"\ncategorical = \"colour",
      .seeds = "[1, 2]",
      .rounds = 60,
      .model = "name = \"linear\"",
      .evaluate_every = 20,
      .training = "local_steps = 5\nbatch_size = 8\nrate = 0.1",
      .algorithms = {"fedavg", "scaffold"},
      .more = more,
      .files = {{"prices.csv", prices()}}};
}

using Regression = ScratchTest;

TEST_F(Regression, RunsFromACsvFileToATableOfErrors) {
  price_regression().write_to(scratch);
  const std::string progress = succeed("run small.toml --out out").err;
  EXPECT_THAT(progress, HasSubstr("60 rounds, test loss "));
  const std::string taken = "csv: 32 training rows and 8 test rows\n";
  EXPECT_THAT(progress, HasSubstr(taken));
  EXPECT_EQ(progress.find(taken), progress.rfind(taken)) << "once, whatever the number of cells";

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

  const Outcome markdown = succeed("table out");
  EXPECT_THAT(markdown.out, HasSubstr(" RMSE |"));
  EXPECT_THAT(markdown.out, Not(HasSubstr("accuracy")));
  const Outcome table = call("table out --format json");
  const json rows = json::parse(table.out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0]["accuracy_mean"].is_null());
  const double other = std::sqrt(2 * *summary_of(scratch / "out/fedavg-seed-2").final_test_loss);
  EXPECT_DOUBLE_EQ(rows[0]["rmse_mean"].get<double>(), (error + other) / 2);
  EXPECT_THAT(call("list out").out, HasSubstr("RMSE " + results::measured(error)));

  const Outcome verified = succeed("verify out");
  EXPECT_THAT(verified.out, HasSubstr("verified: 4 runs"));
}

TEST_F(Regression, StopsByValidationLoss) {
  run_small(scratch, price_regression(),
            "--out out --only fedavg --set evaluation.every=1 --set evaluation.validation_fraction=0.25 "
            "--set stopping.patience=3 --set stopping.improvement=0.5");
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
  EXPECT_THAT(call("table out").out, HasSubstr("stopped without a better validation score"));
}

// Prices by seller; the test part has those of some.
SmallExperiment prices_by_seller(const std::string& tested = "abc") {
  // The model is one line for all, so that sellers differ in how far they are from it.
  std::string text = "size,seller,price\n", test = text;
  for (int size = 1; size <= 20; ++size) {
    for (const auto& [seller, extra] : {std::pair('a', 0), std::pair('b', 1), std::pair('c', 8)}) {
      if (size % 4 == 0 && tested.find(seller) == std::string::npos) continue;
      (size % 4 == 0 ? test : text) += fmt::format("{},{},{}\n", size, seller, 3 * size + extra);
    }
  }
  if (tested.find('z') != std::string::npos) test += "3,z,9\n";
  return {.data =
              "csv\"\npath = \"prices.csv\"\ntest_path = \"later.csv\"\ntarget = "
              "\"price\"\nuser = \"seller\"\ntask = \"regression",
          .seeds = "[1, 2]",
          .rounds = 20,
          .model = "name = \"mlp\"\nhidden = [4]",
          .evaluate_every = 5,
          .training = "local_steps = 5\nbatch_size = 5\nrate = 0.02",
          .algorithms = {"fedavg"},
          .files = {{"prices.csv", text}, {"later.csv", test}}};
}

const std::string kEachSeller =
    "--out out --set partition.kind=by-user --set partition.clients=3 --set evaluation.per_client=true";

TEST_F(Regression, TestsEachClientOnItsOwnUsersExamples) {
  EXPECT_THAT(run_small(scratch, prices_by_seller(), kEachSeller).err, Not(HasSubstr("note: only")));

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

  const Outcome table = call("table out");
  EXPECT_THAT(table.out, HasSubstr("| clients (RMSE) | worst client (RMSE) |"));
  EXPECT_THAT(table.out, HasSubstr("Clients (RMSE): the mean over clients of the RMSE"));
  EXPECT_THAT(table.out, Not(HasSubstr("BMTA")));
  EXPECT_THAT(
      succeed("table out --metric worst-client-rmse@round=10").out,
      has_all("| worst client (RMSE) at round 10 |", "Clients (RMSE) after the last round: the mean"));
  succeed("export out --format csv -o values.csv --measures client_rmse_worst");
  EXPECT_THAT(content_of(scratch / "values.csv"),
              HasSubstr(",20,client_rmse_worst," + results::exact_number(worst) + "\n"));
  succeed("verify out");
}

TEST_F(Regression, SaysHowManyClientsCouldBeTested) {
  EXPECT_THAT(run_small(scratch, prices_by_seller("a"), kEachSeller + " --set experiment.rounds=5").err,
              HasSubstr("note: only 1 of 3 clients have test examples of their own\n"));
  EXPECT_THAT(call("table out").out,
              HasSubstr("only 1 of 3 clients have test examples of their own, and what is said "
                        "of clients rests on them: fedavg"));
}

TEST_F(Regression, RefusesToTestClientsWithoutTestExamples) {
  prices_by_seller("z").write_to(scratch);
  EXPECT_THAT(refused("run small.toml " + kEachSeller),
              HasSubstr("per_client = true, but no client has test examples of its own"));
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

TEST_F(Regression, RefusesATargetOfAccuracy) {
  price_regression().write_to(scratch);
  for (const std::string option : {"--out=out", "--dry-run"}) {
    EXPECT_THAT(refused("run small.toml " + option +
                        " --set stopping.target_accuracy=0.5 --set evaluation.validation_fraction=0.25"),
                HasSubstr("[stopping] target_accuracy is about accuracy, but the data set \"csv\" is "
                          "a regression\n  leave it out"));
    EXPECT_FALSE(fs::exists(scratch / "out"));
  }
}

TEST_F(Regression, RefusesMethodsWhoseImagesAreOfClasses) {
  for (const std::string name : {"dsc", "feddm", "fedgm", "fedd3", "fedlap", "psg", "sda-fl"}) {
    SmallExperiment experiment = price_regression();
    experiment.algorithms = {name};
    experiment.rounds = 1;
    experiment.training = "rate = 0.1";
    if (name == "psg") experiment.more = "[privacy]\npolicy = \"record\"\n";
    experiment.write_to(scratch);
    EXPECT_THAT(refused("run small.toml --dry-run"),
                HasSubstr("works on classes, and the data set \"csv\" is a regression"))
        << name;
  }
}

// A table of classes, whose rows are no images.
TEST_F(Regression, RefusesWhatIsDoneToImages) {
  SmallExperiment experiment = price_regression();
  experiment.data = "csv\"\npath = \"prices.csv\"\ntarget = \"colour";
  experiment.model = "name = \"logistic\"";
  for (const auto& [name, settings, refusal] : std::vector<std::array<std::string, 3>>{
           {"dsc", "augmentation = \"crop\"", "augmentation is \"crop\" (for dsc), which changes images"},
           {"sda-fl", "generator = \"dp-merf\"",
            "generator is \"dp-merf\" (for sda-fl), which draws images"}}) {
    experiment.algorithms = {name};
    experiment.rounds = 1;
    experiment.training = "rate = 0.1\n" + settings;
    experiment.write_to(scratch);
    EXPECT_THAT(refused("run small.toml --dry-run"), HasSubstr(refusal));
  }
}

TEST_F(Regression, ThatDivergedIsStillRecordedAndVerified) {
  EXPECT_THAT(run_small(scratch, price_regression(), "--out out --set training.rate=1e30").err,
              HasSubstr(": diverged, "));
  EXPECT_THAT(succeed("list out").out, HasSubstr(" finished (diverged) "));
  for (const std::string format : {"markdown", "latex", "csv", "json"})
    succeed("table out --format " + format);
  succeed("verify out");
}

TEST_F(Regression, UnderRecordLevelPrivacyHasAnEpsilon) {
  run_small(scratch, price_regression("\n[privacy]\npolicy = \"record\"\n"));
  EXPECT_TRUE(summary_of(scratch / "out/fedavg-seed-1").privacy->rdp->epsilon.has_value());
  succeed("verify out");
}

TEST_F(Regression, ADataSettingThatIsWrongIsRefusedWithItsPlace) {
  price_regression().write_to(scratch);
  scratch.write("prices.csv", prices() + "41,red,lots\n");
  const auto refusal = [&](const std::string& setting) {
    return refused("run small.toml --out out --set " + setting);
  };
  EXPECT_EQ(refusal("data.seed=3"),
            "fedarena: --set data.seed=3: unknown key \"seed\" in [data]; allowed: name, path, target, task, "
            "features, "
            "categorical, index, index_values, join_path, join, user, test_path, test_fraction, standardise, "
            "units, "
            "separator, decimal, missing, missing_as\n"
            "  it is called \"seeds\" here, which belongs in [experiment]\n");
  EXPECT_THAT(
      refusal("experiment.rounds=1"),
      HasSubstr("prices.csv:42:8: the field of column \"price\" is \"lots\"; allowed: a finite number"));
}

// By what the files hold: a copy, a link and a longer path are the examples that the policy hides.
TEST_F(Regression, RefusesItsExamplesAsPublicData) {
  price_regression().write_to(scratch);
  fs::copy_file(scratch / "prices.csv", scratch / "copy.csv");
  fs::create_symlink("prices.csv", scratch / "link.csv");
  std::string others = "size,colour,price\n";
  for (int size = 1; size <= 40; ++size)
    others += fmt::format("{}.5,{},{}\n", size % 7, size % 3 == 0 ? "red" : "blue", size);
  scratch.write("others.csv", others);
  const std::string private_run =
      "run small.toml --dry-run --set privacy.policy=record --set proxy.name=csv --set proxy.target=price "
      "--set proxy.task=regression --set proxy.categorical=colour --set proxy.path=";
  for (const std::string& path :
       {std::string("copy.csv"), std::string("link.csv"), (scratch / "prices.csv").string(),
        std::string("copy.csv --set proxy.standardise=none")}) {
    EXPECT_THAT(
        refused(private_run + path),
        HasSubstr("100 % of the examples of [proxy] are among those of [data], which \"fedavg\" hides "
                  "by the policy \"record\": private data are not public\n"))
        << path;
  }
  EXPECT_THAT(refused(private_run + "copy.csv --set proxy.test_fraction=0.02"),
              HasSubstr(" % of the examples of [proxy] are among those of [data]"))
      << "scaled by other rows";
  succeed(private_run + "others.csv");
}

// Where single precision tells columns apart only once they are scaled.
TEST_F(Regression, RefusesItsExamplesAsPublicDataBesideTimestamps) {
  price_regression().write_to(scratch);
  std::string stamped = "time,size,price\n";
  for (int size = 1; size <= 40; ++size)
    stamped += fmt::format("{},{},{}\n", 1'600'000'000 + 60 * size, size % 7, 3 * size);
  for (const char* file : {"stamped.csv", "copy.csv"}) scratch.write(file, stamped);
  EXPECT_THAT(refused("run small.toml --dry-run --set privacy.policy=record --set data.path=stamped.csv "
                      "--set 'data.categorical=\"\"' --set proxy.name=csv --set proxy.path=copy.csv "
                      "--set proxy.target=price --set proxy.task=regression --set proxy.test_fraction=0.02"),
              HasSubstr(" % of the examples of [proxy] are among those of [data]"));
}

}  // namespace
}  // namespace fedarena::test
