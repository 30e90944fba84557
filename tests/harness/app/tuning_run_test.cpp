// [tuning] from the file to the table: trials, the choice by validation examples, the runs with it.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

// FedAvg at a rate that moves nothing or one that learns; fedprox with a term that holds it fast or not.
const std::string kTuning =
    "\n[tuning]\n\"algorithms.fedavg.rate\" = [1e-9, 0.05]\n\"algorithms.fedprox.mu\" = [0.01, 1e6]\n";

std::string small(const std::string& validation = "every = 1\nvalidation_fraction = 0.2") {
  std::string text = SmallExperiment{.seeds = "[1, 2]", .algorithms = {"fedavg", "fedprox"}}.toml();
  const std::string every = "every = 1";
  text.replace(text.find(every), every.size(), validation);
  return text;
}

results::Tuning tuning_of(const fs::path& run) {
  const auto tuning = summary_of(run).tuning;
  if (!tuning) ADD_FAILURE() << run << " says nothing of tuning";
  return tuning.value_or(results::Tuning{});
}

TEST(TuningRun, RunsTheBestTrialsSettingsUnderTheSeeds) {
  const Scratch scratch;
  scratch.write("small.toml", small() + kTuning);
  const Outcome outcome = run_program(scratch, {"run", "small.toml"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
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
    examples +=
        summary_of(trials / fmt::format("algorithms.fedprox.mu={}/fedprox-seed-0", mu)).examples.value_or(0);
  EXPECT_EQ(tuning.examples, examples);
  EXPECT_EQ(tuning.score,
            rounds_of(trials / "algorithms.fedprox.mu=0.01/fedprox-seed-0").back().validation_accuracy);

  // The same bits as of a file that gives the settings itself.
  scratch.write("given.toml", small());
  const Outcome given =
      run_program(scratch, {"run", "given.toml", "--out", "runs/given", "--set",
                            "algorithms.fedavg.rate=0.05", "--set", "algorithms.fedprox.mu=0.01"});
  ASSERT_EQ(given.exit_code, 0) << given.err;
  for (const char* cell : {"fedavg-seed-1", "fedavg-seed-2", "fedprox-seed-1", "fedprox-seed-2"})
    expect_same_run(scratch / "runs/small" / cell, scratch / "runs/given" / cell);
  EXPECT_FALSE(summary_of(scratch / "runs/given/fedavg-seed-1").tuning);

  const Outcome verified = run_program(scratch, {"verify", "runs/small"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  const Outcome table = run_program(scratch, {"table", "runs/small"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("2 trials"));
}

// The choice looks at validation examples alone: records of trials in which they and the tests disagree.
TEST(TuningRun, ChoosesByValidationExamplesNotByTests) {
  const Scratch scratch;
  scratch.write("small.toml", small() + kTuning);
  ASSERT_EQ(run_program(scratch, {"run", "small.toml"}).exit_code, 0);
  const fs::path trials = scratch / "runs/small-tuning";
  const fs::path still = trials / "algorithms.fedavg.rate=1e-09/fedavg-seed-0";
  const fs::path learning = trials / "algorithms.fedavg.rate=0.05/fedavg-seed-0";
  const auto replace_last = [](const fs::path& run, double validation, double test) {
    auto directory = results::RunDirectory::open(run);
    results::RoundRecord last = directory.rounds().back();
    last.validation_accuracy = validation;
    last.test_accuracy = test;
    directory.replace_last(last);
  };
  replace_last(still, 1.0, 0.0);
  replace_last(learning, 0.5, 1.0);
  fs::remove_all(scratch / "runs/small");
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--resume"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const results::Tuning tuning = tuning_of(scratch / "runs/small/fedavg-seed-1");
  EXPECT_THAT(tuning.chosen, ElementsAre(Pair("algorithms.fedavg.rate", "1e-09")));
  EXPECT_EQ(tuning.score, 1);

  // The first of equals.
  replace_last(still, 0.5, 0.0);
  fs::remove_all(scratch / "runs/small");
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--resume"}).exit_code, 0);
  EXPECT_THAT(tuning_of(scratch / "runs/small/fedavg-seed-1").chosen,
              ElementsAre(Pair("algorithms.fedavg.rate", "1e-09")));
}

// fedprox gives its own rate, which the table of values does not change; it is not said to be chosen.
TEST(TuningRun, NamesWhatTheAlgorithmHeeds) {
  const Scratch scratch;
  scratch.write("small.toml", small() +
                                  "rate = 0.05\n\n[tuning]\n\"training\" = [{rate = 0.01, batch_size = 8}, "
                                  "{rate = 0.02, batch_size = 16}]\n");
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--set", "experiment.rounds=1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(tuning_of(scratch / "runs/small/fedavg-seed-1").chosen.size(), 2U);
  EXPECT_THAT(tuning_of(scratch / "runs/small/fedprox-seed-1").chosen,
              ElementsAre(Pair("training.batch_size", testing::_)));
  EXPECT_EQ(run_program(scratch, {"verify", "runs/small"}).exit_code, 0);
}

TEST(TuningRun, GoesOnWithTrialsThatAreThere) {
  const Scratch scratch;
  scratch.write("small.toml", small() + kTuning);
  ASSERT_EQ(run_program(scratch, {"run", "small.toml"}).exit_code, 0);
  const Outcome again = run_program(scratch, {"run", "small.toml"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr("runs/small/fedavg-seed-1: there is a run in this folder already"),
                               Not(HasSubstr("Tuning:"))));
  const Outcome resumed = run_program(scratch, {"run", "small.toml", "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;

  // More trials are another choice, even where it falls on the same settings.
  const Outcome more = run_program(
      scratch, {"run", "small.toml", "--resume", "--set", "tuning.algorithms.fedavg.rate=[1e-9, 1e-8, 0.05]",
                "--set", "tuning.algorithms.fedprox.mu=[0.01, 1e5, 1e6]"});
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_THAT(
      more.err,
      HasSubstr("runs here belong to another experiment: tuning was 2 trials (grid, seed 0): "
                "algorithms.fedavg.rate=0.05, now 3 trials (grid, seed 0): algorithms.fedavg.rate=0.05"));
}

TEST(TuningRun, SaysThatNoEpsilonCoversTheTrials) {
  const Scratch scratch;
  scratch.write("small.toml", small() + kTuning);
  const Outcome outcome =
      run_program(scratch, {"run", "small.toml", "--set", "privacy.policy=record", "--set",
                            "privacy.noise_multiplier=1", "--set", "experiment.rounds=1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("note: epsilon does not cover the trials: they, and the choice among "
                                     "them, looked at private data, too\n"));
  const Outcome table = run_program(scratch, {"table", "runs/small"});
  EXPECT_THAT(table.out, HasSubstr("epsilon does not cover the trials"));
}

TEST(TuningRun, TellsBeforehandWhatItWouldRun) {
  const Scratch scratch;
  scratch.write("small.toml", small() + kTuning);
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Tuning: 2 trials of each algorithm (grid, seed 0), in runs/small-tuning\n"),
                    HasSubstr("algorithms.fedprox.mu=0.01"),
                    HasSubstr("Then 4 cells with the settings of the best trials, in runs/small;")));
  EXPECT_FALSE(fs::exists(scratch / "runs"));
  const Outcome part = run_program(scratch, {"run", "small.toml", "--only", "fedavg"});
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.err, HasSubstr("--only fedavg: only a part of a file with [tuning] is asked for"));
}

TEST(TuningRun, LeavesResumableTrialsWhenItIsStopped) {
  const Scratch scratch;
  scratch.write("small.toml", small() + kTuning);
  Program program(scratch, {"run", "small.toml", "--set", "experiment.rounds=100000"});
  const fs::path trial = scratch / "runs/small-tuning/algorithms.fedavg.rate=1e-09/fedavg-seed-0";
  ASSERT_TRUE(program.wait_until([&] { return rounds_on_disk(trial) > 0; }));
  program.send(SIGINT);
  const Outcome stopped = program.finish();
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("--resume continues"));
  EXPECT_EQ(summary_of(trial).state, results::kInterrupted);
  EXPECT_FALSE(fs::exists(scratch / "runs/small"));
}

}  // namespace
}  // namespace fedarena::test
