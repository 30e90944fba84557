// A run from the experiment file, or a profile of it, to the printed table.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "results/record/run_directory.hpp"
#include "results/text/number_format.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;

Outcome table_of(const Scratch& scratch, const std::string& format) {
  return succeed(scratch, "table out --format " + format);
}

using RunCommand = ScratchTest;

TEST_F(RunCommand, LeavesACompleteRunDirectoryForEveryCell) {
  const Outcome outcome = run_small(scratch, {.seeds = "[1, 2]", .algorithms = {"fedavg", "scaffold"}}, "");
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              HasSubstr("Results are in runs/small; `fedarena table runs/small` prints the table."));
  for (const char* cell : {"fedavg-seed-1", "fedavg-seed-2", "scaffold-seed-1", "scaffold-seed-2"}) {
    SCOPED_TRACE(cell);
    const fs::path run = scratch / "runs/small" / cell;
    const results::Summary summary = summary_of(run);
    const std::vector<results::RoundRecord> rounds = rounds_of(run);
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(summary.state, results::kFinished);
    EXPECT_EQ(summary.rounds_done, 3);
    EXPECT_EQ(summary.final_test_accuracy, rounds.back().test_accuracy);
    EXPECT_EQ(summary.final_test_loss, rounds.back().test_loss);
    EXPECT_EQ(fmt::format("{}-seed-{}", summary.label, summary.seed), cell);
    EXPECT_GT(summary.seconds, 0);
    const json environment = json::parse(content_of(run / results::kEnvironmentFile));
    for (const char* field : {"fedarena", "commit", "libtorch", "processor", "workers", "blas", "plugins"}) {
      EXPECT_TRUE(environment.contains(field)) << field;
    }
    EXPECT_TRUE(json::parse(content_of(run / results::kLedgerFile)).is_object());
    EXPECT_GT(fs::file_size(run / results::kCheckpointFile), 4 * 7850U);
    EXPECT_EQ(std::distance(fs::directory_iterator(run), fs::directory_iterator()), 8) << "a stray file";
  }
}

TEST_F(RunCommand, NeedsNoOpenStream) {
  SmallExperiment{}.write_to(scratch);
  const std::string program = (build_folder() / "bin/fedarena").string();
  succeed(std::vector<std::string>{"-c", program + " run small.toml --out out <&- >&- 2>&-"},
          {.program = "/bin/sh"});
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kFinished);
}

// The experiment keeps what was written, the environment what it meant here; both agree for verify.
TEST_F(RunCommand, RecordsTheDeviceThatAutoChose) {
  SmallExperiment{}.write_to(scratch);
  succeed("run small.toml --out out --device auto", {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
  const fs::path run = scratch / "out/fedavg-seed-1";
  EXPECT_THAT(content_of(run / results::kExperimentFile), HasSubstr("\ndevice = \"auto\"\n"));
  const json environment = json::parse(content_of(run / results::kEnvironmentFile));
  EXPECT_EQ(environment["device"], "cpu");
  EXPECT_FALSE(environment.contains("gpu"));
  succeed("verify out");
}

TEST_F(RunCommand, TableShowsTheAccuracyOfTheLastRoundInEveryFormat) {
  run_small(scratch, {.evaluate_every = 2});
  // Round 3 is not a multiple of 2, but the last one is always evaluated.
  const std::vector<results::RoundRecord> rounds = rounds_of(scratch / "out/fedavg-seed-1");
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_FALSE(rounds[0].test_accuracy.has_value());
  EXPECT_TRUE(rounds[1].test_accuracy.has_value());
  ASSERT_TRUE(rounds[2].test_accuracy.has_value());
  const double accuracy = *rounds[2].test_accuracy;

  EXPECT_THAT(table_of(scratch, "markdown").out, HasSubstr(fmt::format(" {} |", results::percent(accuracy))));
  EXPECT_THAT(table_of(scratch, "latex").out, HasSubstr(fmt::format("& {} &", results::percent(accuracy))));
  const json document = json::parse(table_of(scratch, "json").out);
  EXPECT_EQ(document["rows"][0]["seeds"][0]["accuracy"].get<double>(), accuracy);
  EXPECT_EQ(document["rows"][0]["accuracy_mean"].get<double>(), accuracy);

  const Outcome csv = table_of(scratch, "csv");
  EXPECT_THAT(csv.out, HasSubstr(fmt::format(",{},", results::exact_number(accuracy))));
  EXPECT_THAT(csv.err, MatchesRegex("note: .*glyphs is synthetic.*\n"));
}

TEST_F(RunCommand, GivesEveryAlgorithmTheSamePartitionAndStart) {
  // With no pull towards the global model FedProx is FedAvg, so that everything else must be equal.
  run_small(scratch, {.cohort = "size = 2", .algorithms = {"fedavg", "fedprox"}, .more = "mu = 0.0\n"});
  const std::vector<results::RoundRecord> fedavg = rounds_of(scratch / "out/fedavg-seed-1");
  const std::vector<results::RoundRecord> fedprox = rounds_of(scratch / "out/fedprox-seed-1");
  ASSERT_EQ(fedavg.size(), fedprox.size());
  for (std::size_t i = 0; i < fedavg.size(); ++i) EXPECT_EQ(fedavg[i].test_loss, fedprox[i].test_loss);
}

// Before a round is spent on finding out.
TEST_F(RunCommand, RefusesMeansByExamplesWhereClientsHideTheirNumber) {
  SmallExperiment experiment{.more = "[privacy]\npolicy = \"client\"\n"};
  experiment.write_to(scratch);
  EXPECT_THAT(refused("run small.toml --dry-run"),
              testing::AllOf(HasSubstr("weighting is \"examples\" (for fedavg)"),
                             HasSubstr("allowed: \"uniform\"\n  set weighting = \"uniform\" in [training]")));
  succeed("run small.toml --dry-run --set training.weighting=uniform");
}

// Its first messages are empty and the others are not, so that their mean would tell how large cohorts were.
TEST_F(RunCommand, TellsNoMeanOfMessagesThatTellsSecretCohorts) {
  const SmallExperiment experiment{
      .rounds = 2,
      .partition = "kind = \"iid\"\nclients = 20",
      .cohort = "size = 5",
      .training = "generator = \"noise\"\nadapt_on = \"nothing\"\nmost_examples = 10",
      .algorithms = {"pppfl"},
      .more = "[privacy]\npolicy = \"client\"\nnoise_multiplier = 2.0\ndelta = 1e-3\n"};
  run_small(scratch, experiment);
  const auto row = nlohmann::json::parse(succeed("table out --format json").out)["rows"][0];
  EXPECT_TRUE(row["uplink_bytes_per_client_round"].is_null());
  EXPECT_FALSE(row["downlink_bytes_per_client_round"].is_null());
  EXPECT_THAT(succeed("table out").out, HasSubstr("\"-\": what would tell the sizes of samples"));
  succeed("verify out");
}

TEST_F(RunCommand, PrintsItsFolderAsAShellTakesIt) {
  EXPECT_THAT(run_small(scratch, {.rounds = 1}, "--out 'my runs'").err,
              HasSubstr("Results are in 'my runs'; `fedarena table 'my runs'` prints the table."));
}

TEST_F(RunCommand, RecordsARunThatDiverged) {
  // It has an accuracy, that of answers without sense.
  EXPECT_THAT(run_small(scratch, {.training = "local_steps = 50\nrate = 1e38"}).err,
              HasSubstr("3 rounds, test loss nan: diverged, "));
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kFinished);
  table_of(scratch, "json");
}

TEST_F(RunCommand, FindsPluginsInFurtherFoldersAndLivesWithBrokenOnes) {
  SmallExperiment{.rounds = 1}.write_to(scratch);
  scratch.write("further/broken.so", "This is no library.\n");
  const Start start{.environment = {{"FEDARENA_PLUGIN_PATH", (scratch / "further").string()}}};
  EXPECT_THAT(succeed("run small.toml --out out", start).err,
              HasSubstr("warning: plugin " + (scratch / "further/broken.so").string() +
                        " is not in use: it cannot be loaded"));
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kFinished);
}

using Profile = ScratchTest;

TEST_F(Profile, RunsIntoAFolderOfItsOwnAndGivesWayToSet) {
  run_small(scratch,
            {.more = "\n[profiles.quick]\n\"experiment.rounds\" = 1\n"
                     "\"partition.train_fraction\" = 0.5\n\"algorithms.fedavg.rate\" = 0.2\n"},
            "");
  const Outcome outcome = succeed("run small.toml --profile quick --set algorithms.fedavg.rate=0.3");
  EXPECT_THAT(outcome.err, HasSubstr("iid: 4 clients, 10 classes each, size 1,500 each, label entropy "));
  EXPECT_THAT(outcome.err, HasSubstr("Results are in runs/small-quick;"));

  EXPECT_EQ(summary_of(scratch / "runs/small/fedavg-seed-1").rounds_done, 3);
  const fs::path quick = scratch / "runs/small-quick/fedavg-seed-1";
  EXPECT_EQ(summary_of(quick).experiment, "small-quick");
  EXPECT_EQ(summary_of(quick).rounds_done, 1);
  // The record needs no profile any more.
  EXPECT_THAT(content_of(quick / results::kExperimentFile), HasSubstr("\nrate = 0.3"));
  succeed("run " + (quick / results::kExperimentFile).string() + " --out again");
  expect_same_run(quick, scratch / "again/fedavg-seed-1");
}

}  // namespace
}  // namespace fedarena::test
