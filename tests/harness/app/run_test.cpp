// A run from the experiment file, or a profile of it, to the printed table.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/find.hpp"

#include "results/images/npy_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/number_format.hpp"
#include "tests/harness/app/golden.hpp"
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
              has_all("weighting is \"examples\" (for fedavg)",
                      "allowed: \"uniform\"\n  set weighting = \"uniform\" in [training]"));
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
  EXPECT_THAT(succeed("table out").out, HasSubstr(": what would tell the sizes of samples"));
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

using ModelCommand = ScratchTest;

TEST_F(ModelCommand, WritesWhatRunsBeginFrom) {
  run_small(scratch, {.rounds = 2, .model = "name = \"mlp\"\nhidden = [6]"});
  EXPECT_EQ(succeed("model out -o m.npz").out,
            "m.npz: the global model after round 2 of 2: 4 tensors, 4780 parameters, float32\n");
  const results::NamedArrays arrays = results::read_npz(scratch / "m.npz");
  EXPECT_EQ(names_of(arrays, &results::NamedArrays::value_type::first),
            (std::vector<std::string>{"1.weight", "1.bias", "3.weight", "3.bias"}));
  EXPECT_EQ(arrays.front().second.shape, (std::vector<std::int64_t>{6, 784}));
  // Steps that move nothing, of every algorithm and seed.
  const SmallExperiment next{.seeds = "[2, 3]",
                             .rounds = 1,
                             .model = "name = \"mlp\"\nhidden = [6]\nweights = \"m.npz\"",
                             .training = "local_steps = 1\nbatch_size = 16\nrate = 1e-15",
                             .algorithms = {"fedavg", "fedprox"}};
  next.write_to(scratch);
  succeed("run small.toml --out next");
  for (const std::string& cell : cells_in(scratch / "next"))
    EXPECT_EQ(summary_of(scratch / "next" / cell).final_test_accuracy,
              summary_of(scratch / "out/fedavg-seed-1").final_test_accuracy)
        << cell;
  const std::string hash = results::content_hash(arrays);
  EXPECT_THAT(content_of(scratch / "next/fedavg-seed-2/experiment.toml"),
              HasSubstr("weights = \"m.npz\"\nweights_sha256 = \"" + hash + "\"\n"));
  EXPECT_EQ(summary_of(scratch / "next/fedavg-seed-2").model,
            "mlp (hidden = [6], weights = \"m.npz\", weights_sha256 = \"" + hash.substr(0, 12) + "\")");
  EXPECT_THAT(succeed("verify next --data").out, HasSubstr("0 differences"));
  succeed("bundle next/fedavg-seed-2 -o b.tgz");
  EXPECT_THAT(succeed("replay b.tgz").out, HasSubstr("the same bits"));
  // Trained a little further, they are others.
  succeed("run small.toml --out other --set training.rate=0.1 --only fedavg-seed-2");
  succeed("model other -o m.npz");
  EXPECT_THAT(refused("run small.toml --out next --resume"),
              HasSubstr("next: runs here belong to another experiment: model.weights_sha256 was " + hash));
  EXPECT_THAT(refused("replay b.tgz"), HasSubstr("m.npz: these are other weights: their SHA-256 is "));
  EXPECT_THAT(call("verify next/fedavg-seed-2 --data").out,
              HasSubstr("experiment.toml: model.weights_sha256 is \"" + hash + "\"; recomputed: "));
}

TEST_F(ModelCommand, TakesRunsThatAreUnfinishedAndOfDoublePrecision) {
  run_small(scratch, {.rounds = 2}, "--out out --set experiment.dtype=float64");
  unfinish(scratch / "out/fedavg-seed-1");
  EXPECT_THAT(succeed("model out -o m.npz").out, HasSubstr("2 tensors, 7850 parameters, float64"));
  EXPECT_EQ(results::type_of(results::read_npz(scratch / "m.npz").front().second), "float64");
}

TEST_F(ModelCommand, RefusesWithOneMessage) {
  using Floats = std::vector<float>;
  run_small(scratch, {.seeds = "[1, 2]", .rounds = 1});
  for (const char* run : {"damaged", "gone"})
    fs::copy(scratch / "out/fedavg-seed-1", scratch / run, fs::copy_options::recursive);
  scratch.write("damaged/checkpoint.bin",
                content_of(scratch / "out/fedavg-seed-1/checkpoint.bin").substr(0, 999));
  fs::remove(scratch / "gone/checkpoint.bin");
  const results::Array weight{{10, 784}, Floats(7840)}, bias{{10}, Floats(10)};
  const auto write = [&](const char* name, const results::NamedArrays& arrays) {
    scratch.write(fs::path(name), results::to_npz(arrays));
  };
  write("good.npz", {{"1.weight", weight}, {"1.bias", bias}});
  write("unknown.npz", {{"weight", weight}, {"1.bias", bias}});
  write("missing.npz", {{"1.weight", weight}});
  write("shape.npz", {{"1.weight", {{784, 10}, Floats(7840)}}, {"1.bias", bias}});
  write("double.npz", {{"1.weight", weight}, {"1.bias", {{10}, std::vector<double>(10)}}});
  write("infinite.npz", {{"1.weight", weight}, {"1.bias", {{10}, Floats(10, INFINITY)}}});
  scratch.write("cut.npz", content_of(scratch / "good.npz").substr(0, 20'000));
  expect_refusals(scratch, "bad_models.txt");
  EXPECT_FALSE(fs::exists(scratch / "m.npz"));
  EXPECT_FALSE(fs::exists(scratch / "new"));
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
