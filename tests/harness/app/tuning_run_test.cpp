// [tuning] from the file to the table: trials, the choice by validation examples, the runs with it.
#include <cmath>
#include <csignal>
#include <string>

#include <fmt/format.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

using testing::Pair;

// FedAvg at a rate that moves nothing or one that learns; fedprox with a term that holds it fast or not.
const std::string kTuning =
    "\n[tuning]\n\"algorithms.fedavg.rate\" = [1e-9, 0.05]\n\"algorithms.fedprox.mu\" = [0.01, 1e6]\n";

SmallExperiment tuned(const std::string& tuning = kTuning) {
  return {.seeds = "[1, 2]",
          .evaluation = "validation_fraction = 0.2\n",
          .algorithms = {"fedavg", "fedprox"},
          .more = tuning};
}

results::Tuning tuning_of(const fs::path& run) {
  const auto tuning = summary_of(run).tuning;
  if (!tuning) ADD_FAILURE() << run << " says nothing of tuning";
  return tuning.value_or(results::Tuning{});
}

using TuningRun = ScratchTest;

TEST_F(TuningRun, RunsTheBestTrialsSettingsUnderTheSeeds) {
  EXPECT_THAT(run_small(scratch, tuned(), "").err,
              AllOf(HasSubstr("Tuning: 2 trials of each algorithm (grid, seed 0), in runs/small-tuning"),
                    HasSubstr("fedavg: 2 trials: "), HasSubstr("examples, rate = 0.05 ("),
                    HasSubstr("examples, mu = 0.01 ("), Not(HasSubstr("note: epsilon"))));
  const results::Tuning tuning = tuning_of(scratch / "runs/small/fedprox-seed-2");
  EXPECT_EQ(tuning.search, "grid");
  EXPECT_EQ(tuning.trials, 2);
  EXPECT_EQ(tuning.criterion, "validation accuracy");
  EXPECT_THAT(tuning.chosen, ElementsAre(Pair("algorithms.fedprox.mu", "0.01")));

  // What the trials took and brought, from their own records.
  const fs::path trials = scratch / "runs/small-tuning";
  std::int64_t examples = 0;
  for (const char* mu : {"0.01", "1000000"})
    examples += summary_of(trials / fmt::format("algorithms.fedprox.mu={}/fedprox-seed-0", mu)).examples;
  EXPECT_EQ(tuning.examples, examples);
  EXPECT_EQ(tuning.score,
            rounds_of(trials / "algorithms.fedprox.mu=0.01/fedprox-seed-0").back().validation_accuracy);

  // The same bits as of a file that gives the settings itself.
  scratch.write("given.toml", tuned("").toml());
  succeed(
      "run given.toml --out runs/given --set algorithms.fedavg.rate=0.05 --set algorithms.fedprox.mu=0.01");
  expect_same_runs(scratch / "runs/small", scratch / "runs/given");
  EXPECT_FALSE(summary_of(scratch / "runs/given/fedavg-seed-1").tuning);

  succeed("verify runs/small");
  EXPECT_THAT(succeed("table runs/small").out, HasSubstr("2 trials"));
}

TEST_F(TuningRun, IsVerifiedAgainstItsTrials) {
  run_small(scratch, tuned(), "");
  const fs::path run = scratch / "runs/small/fedavg-seed-1";
  const auto found = [&](const auto& change) {
    const results::Summary before = summary_of(run);
    edit_summary(run, [&](results::Summary& summary) { change(*summary.tuning); });
    const std::string text = call("verify runs/small").out;
    edit_summary(run, [&](results::Summary& summary) { summary = before; });
    return text;
  };
  const std::string differs = "differs: runs/small/fedavg-seed-1/summary.json: tuning.";
  EXPECT_THAT(found([](results::Tuning&) {}), Not(HasSubstr("tuning")));
  EXPECT_THAT(found([](results::Tuning& tuning) { tuning.score = 0.999; }),
              HasSubstr(differs + "score is 0.999; recomputed: "));
  EXPECT_THAT(found([](results::Tuning& tuning) { ++tuning.examples; }), HasSubstr(differs + "examples is "));
  EXPECT_THAT(found([](results::Tuning& tuning) { tuning.seconds *= 2; }),
              HasSubstr(differs + "seconds is "));
  EXPECT_THAT(found([](results::Tuning& tuning) { tuning.seed = 3; }),
              HasSubstr(differs + "seed is 3; recomputed: 0"));
  EXPECT_THAT(found([](results::Tuning& tuning) {
                tuning.chosen = {{"algorithms.fedavg.rate", "1e-09"}};
              }),
              HasSubstr(differs + "chosen is \"algorithms.fedavg.rate=1e-09\"; recomputed: "
                                  "\"algorithms.fedavg.rate=0.05\""));
  fs::remove_all(scratch / "runs/small-tuning/algorithms.fedavg.rate=0.05");
  EXPECT_THAT(
      succeed("verify runs/small").out,
      HasSubstr(
          "what tuning chose is not compared with its trials: of 2 trials, 1 is beside the run's folder"));
}

// The choice looks at validation examples alone: records of trials in which they and the tests disagree.
TEST_F(TuningRun, ChoosesByValidationExamplesNotByTests) {
  run_small(scratch, tuned(), "");
  const fs::path trials = scratch / "runs/small-tuning";
  const fs::path still = trials / "algorithms.fedavg.rate=1e-09/fedavg-seed-0";
  const fs::path learning = trials / "algorithms.fedavg.rate=0.05/fedavg-seed-0";
  const auto replace_last = [](const fs::path& run, double validation, double test, double loss = 1) {
    auto directory = results::RunDirectory::open(run);
    results::RoundRecord last = directory.rounds().back();
    last.validation_accuracy = validation;
    last.validation_loss = loss;
    last.test_accuracy = test;
    directory.replace_last(last);
    edit_summary(run, [&](results::Summary& summary) { summary.final_test_accuracy = test; });
  };
  const auto choice = [&] {
    fs::remove_all(scratch / "runs/small");
    succeed("run small.toml --resume");
    return tuning_of(scratch / "runs/small/fedavg-seed-1");
  };
  replace_last(still, 1.0, 0.0);
  replace_last(learning, 0.5, 1.0);
  const results::Tuning tuning = choice();
  EXPECT_THAT(tuning.chosen, ElementsAre(Pair("algorithms.fedavg.rate", "1e-09")));
  EXPECT_EQ(tuning.score, 1);

  // The first of equals.
  replace_last(still, 0.5, 0.0);
  EXPECT_THAT(choice().chosen, ElementsAre(Pair("algorithms.fedavg.rate", "1e-09")));

  // A model that diverged has an accuracy, too.
  replace_last(still, 1.0, 0.0, std::nan(""));
  EXPECT_THAT(choice().chosen, ElementsAre(Pair("algorithms.fedavg.rate", "0.05")));
}

TEST_F(TuningRun, SaysWhenEveryTrialDiverged) {
  const Outcome run = run_small(scratch, tuned("\n[tuning]\n\"training.rate\" = [1e37, 1e38]\n"),
                                "--set experiment.rounds=1");
  EXPECT_THAT(run.err, HasSubstr("training.rate = 1e+37 (every trial diverged; this is the first one)"));
  EXPECT_EQ(tuning_of(scratch / "runs/small/fedavg-seed-1").score, std::nullopt);
}

// fedprox gives its own rate, which the table of values does not change; it is not said to be chosen.
TEST_F(TuningRun, NamesWhatTheAlgorithmHeeds) {
  run_small(scratch,
            tuned("rate = 0.05\n\n[tuning]\n\"training\" = [{rate = 0.01, batch_size = 8}, "
                  "{rate = 0.02, batch_size = 16}]\n"),
            "--set experiment.rounds=1");
  EXPECT_EQ(tuning_of(scratch / "runs/small/fedavg-seed-1").chosen.size(), 2U);
  EXPECT_THAT(tuning_of(scratch / "runs/small/fedprox-seed-1").chosen,
              ElementsAre(Pair("training.batch_size", testing::_)));
  succeed("verify runs/small");
}

TEST_F(TuningRun, GoesOnWithTrialsThatAreThere) {
  run_small(scratch, tuned(), "");
  EXPECT_THAT(refused("run small.toml"),
              AllOf(HasSubstr("runs/small/fedavg-seed-1: there is a run in this folder already"),
                    Not(HasSubstr("Tuning:"))));
  succeed("run small.toml --resume");

  // More trials are another choice, even where it falls on the same settings.
  EXPECT_THAT(
      refused("run small.toml --resume --set 'tuning.algorithms.fedavg.rate=[1e-9, 1e-8, 0.05]' "
              "--set 'tuning.algorithms.fedprox.mu=[0.01, 1e5, 1e6]'"),
      HasSubstr("runs here belong to another experiment: tuning was 2 trials (grid, seed 0): "
                "algorithms.fedavg.rate=0.05, now 3 trials (grid, seed 0): algorithms.fedavg.rate=0.05"));
}

// As in an override, a label may stand in quotes.
TEST_F(TuningRun, GoesOnWhereALabelStandsInQuotes) {
  SmallExperiment quoted =
      tuned("label = \"prox.1\"\n\n[tuning]\n\"algorithms.\\\"prox.1\\\".mu\" = [0.5, 1]\n");
  quoted.algorithms = {"fedprox"};
  run_small(scratch, quoted, "");
  const auto before = snapshot_of(scratch / "runs");
  succeed("run small.toml --resume --dry-run");
  succeed("run small.toml --resume");
  EXPECT_TRUE(snapshot_of(scratch / "runs") == before);
  EXPECT_THAT(refused("run small.toml --resume --set 'algorithms.\"prox.1\".rate=0.5'"),
              HasSubstr("rate was "));
}

TEST_F(TuningRun, SaysWhyTrialsThatAreThereDoNotServe) {
  run_small(scratch, tuned(), "");
  fs::remove_all(scratch / "runs/small");
  // They finished.
  EXPECT_THAT(refused("run small.toml"),
              AllOf(HasSubstr("there is a run in this folder already"), Not(HasSubstr("have to finish"))));
  const fs::path trial = scratch / "runs/small-tuning/algorithms.fedavg.rate=1e-09/fedavg-seed-0";
  unfinish(trial);
  // No --resume helps where the settings are others.
  EXPECT_THAT(refused("run small.toml --stage cells --set experiment.rounds=2"),
              HasSubstr("runs here belong to another experiment: experiment.rounds was "));
  edit_summary(trial, [](results::Summary& summary) {
    summary.state = results::kFailed;
    summary.failure = "it sent nothing";
  });
  EXPECT_THAT(refused("run small.toml --stage cells"),
              has_all("this trial failed: it sent nothing\n", "`--stage trials --resume`"));
}

// What trials do not choose is known before they take their hours.
TEST_F(TuningRun, RefusesChangedSettingsBeforeItsTrials) {
  tuned().write_to(scratch);
  succeed("run small.toml");
  fs::remove_all(scratch / "runs/small-tuning");
  for (const std::string option : {"", " --dry-run"}) {
    // A rate is chosen for fedavg alone.
    for (const std::string key : {"experiment.rounds", "algorithms.fedprox.rate"}) {
      EXPECT_THAT(failed("run small.toml --resume --set " + key + "=2" + option).err,
                  HasSubstr(key.substr(key.rfind('.') + 1) + " was "));
      EXPECT_FALSE(fs::exists(scratch / "runs/small-tuning"));
    }
  }
}

TEST_F(TuningRun, SaysThatNoEpsilonCoversTheTrials) {
  tuned().write_to(scratch);
  EXPECT_THAT(succeed("run small.toml --set privacy.policy=record --set "
                      "privacy.noise_multiplier=1 --set experiment.rounds=1")
                  .err,
              HasSubstr("note: epsilon does not cover the trials: they, and the choice among "
                        "them, looked at private data, too\n"));
  EXPECT_THAT(call("table runs/small").out, HasSubstr("epsilon does not cover the trials"));
}

// Its own trials are not the only ones that deal the data.
TEST_F(TuningRun, LeavesOutOfAllTrialsWhatAPolicyKeepsPrivate) {
  SmallExperiment experiment = tuned("\n[algorithms.privacy]\npolicy = \"record\"\n" + kTuning);
  experiment.partition = "kind = \"classes\"\nclients = 5";
  experiment.algorithms = {"fedprox", "fedavg"};
  const Outcome run = run_small(scratch, experiment, "--set experiment.rounds=1");
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("seed 0: classes: 5 clients, sizes "), Not(HasSubstr("classes each"))));
}

TEST_F(TuningRun, TellsBeforehandWhatItWouldRun) {
  tuned().write_to(scratch);
  EXPECT_THAT(succeed("run small.toml --dry-run").out,
              has_all("Tuning: 2 trials of each algorithm (grid, seed 0), in runs/small-tuning\n",
                      "algorithms.fedprox.mu=0.01",
                      "Then 4 cells with the settings of the best trials, in runs/small;"));
  EXPECT_FALSE(fs::exists(scratch / "runs"));
  // Beside the folder, whatever it is called.
  EXPECT_THAT(succeed("run small.toml --dry-run --out .").out,
              HasSubstr(fmt::format("in {}-tuning\n", scratch.path().string())));
  EXPECT_THAT(refused("run small.toml --dry-run --stage cells"), HasSubstr("this trial is not finished"));
  EXPECT_THAT(refused("run small.toml --only fedavg"),
              HasSubstr("--only fedavg: only a part of a file with [tuning] is asked for"));
}

TEST_F(TuningRun, LeavesResumableTrialsWhenItIsStopped) {
  tuned().write_to(scratch);
  const fs::path trial = scratch / "runs/small-tuning/algorithms.fedavg.rate=1e-09/fedavg-seed-0";
  const Outcome stopped =
      signal_after(scratch, "run small.toml --set experiment.rounds=100000", trial, 1, SIGINT);
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("--resume continues"));
  EXPECT_EQ(summary_of(trial).state, results::kInterrupted);
  EXPECT_FALSE(fs::exists(scratch / "runs/small"));
}

}  // namespace
}  // namespace fedarena::test
