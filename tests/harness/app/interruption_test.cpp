// A run that was stopped, in whatever way, ends up with the same bits as one that was not.
#include <filesystem>
#include <fstream>
#include <map>
#include <signal.h>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// So many rounds that none of the signals below can come too late, each of them short.
SmallExperiment many_rounds(std::vector<std::string> algorithms) {
  return {.rounds = 1000,
          .partition = "kind = \"iid\"\nclients = 3",
          .cohort = "size = 2",
          .evaluate_every = 500,
          .training = "local_steps = 1\nbatch_size = 8\nrate = 0.05",
          .algorithms = std::move(algorithms)};
}

const std::vector<std::string> kInterruptionRun{"run", "small.toml", "--out", "out"};
const std::vector<std::string> kInterruptionResume{"run", "small.toml", "--out", "out", "--resume"};

void run_unbroken(const Scratch& scratch) {
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--out", "unbroken"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
}

// Starts the program, waits until so many rounds are on disk, and sends the signal.
Outcome signal_after(const Scratch& scratch, const std::vector<std::string>& arguments,
                     const std::string& cell, std::int64_t rounds, int signal) {
  Program program(scratch, arguments);
  const fs::path run = scratch / "out" / cell;
  EXPECT_TRUE(program.wait_until([&] {
    return fs::exists(run / results::kSummaryFile) && rounds_on_disk(run) >= rounds;
  })) << program.err();
  program.send(signal);
  return program.finish();
}

// Content and time of every file below a folder.
std::map<fs::path, std::pair<std::string, fs::file_time_type>> interruption_snapshot(const fs::path& folder) {
  std::map<fs::path, std::pair<std::string, fs::file_time_type>> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path()] = {content_of(entry.path()), entry.last_write_time()};
  }
  return files;
}

TEST(Interruption, CtrlCLeavesARunThatResumesToTheSameBits) {
  const Scratch scratch;
  scratch.write("small.toml", many_rounds({"scaffold"}).toml());
  const fs::path run = scratch / "out/scaffold-seed-1";
  const Outcome stopped = signal_after(scratch, kInterruptionRun, "scaffold-seed-1", 1, SIGINT);
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(
      stopped.err,
      HasSubstr("Stopped; all complete rounds are kept. The same command with --resume continues.\n"));
  EXPECT_THAT(stopped.err, Not(HasSubstr("Results are in")));

  const results::Summary summary = summary_of(run);
  EXPECT_EQ(summary.state, results::kInterrupted);
  EXPECT_EQ(summary.rounds_done, rounds_on_disk(run));
  EXPECT_LT(summary.rounds_done, 1000);
  EXPECT_TRUE(fs::exists(run / results::kCheckpointFile));
  EXPECT_THAT(run_program(scratch, {"list", "out"}).out, HasSubstr("  interrupted  "));

  const Outcome resumed = run_program(scratch, kInterruptionResume);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  run_unbroken(scratch);
  expect_same_run(run, scratch / "unbroken/scaffold-seed-1");
}

TEST(Interruption, SigtermIsAsOrderlyAsCtrlC) {
  const Scratch scratch;
  scratch.write("small.toml", many_rounds({"fedavg"}).toml());
  const Outcome stopped = signal_after(scratch, kInterruptionRun, "fedavg-seed-1", 1, SIGTERM);
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kInterrupted);
}

TEST(Interruption, KillingAtAnyPointLosesAtMostWhatFollowsTheCheckpoint) {
  const Scratch scratch;
  scratch.write("small.toml", many_rounds({"fedavg", "scaffold"}).toml());
  const fs::path first = scratch / "out/fedavg-seed-1";
  const fs::path second = scratch / "out/scaffold-seed-1";
  // Before the first round, early, and after a checkpoint, which Ctrl-C writes.
  EXPECT_EQ(signal_after(scratch, kInterruptionRun, "fedavg-seed-1", 0, SIGKILL).signal, SIGKILL);
  EXPECT_EQ(signal_after(scratch, kInterruptionResume, "fedavg-seed-1", 1, SIGKILL).signal, SIGKILL);
  EXPECT_EQ(signal_after(scratch, kInterruptionResume, "fedavg-seed-1", 100, SIGINT).exit_code, 130);
  const std::int64_t kept = summary_of(first).rounds_done;
  ASSERT_LT(kept, 900);
  EXPECT_EQ(signal_after(scratch, kInterruptionResume, "fedavg-seed-1", kept + 20, SIGKILL).signal, SIGKILL);
  // A line that the kill tore.
  std::ofstream(first / results::kRoundsFile, std::ios::app) << R"({"round":)";
  // In the second cell: the first one is finished and stays as it is from here on.
  EXPECT_EQ(signal_after(scratch, kInterruptionResume, "scaffold-seed-1", 5, SIGKILL).signal, SIGKILL);
  EXPECT_EQ(summary_of(first).state, results::kFinished);
  const auto finished = interruption_snapshot(first);

  const Outcome resumed = run_program(scratch, kInterruptionResume);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("[1/2] fedavg, seed 1: 1000 rounds, "));
  EXPECT_THAT(resumed.err, HasSubstr(" (finished before)\n[2/2] scaffold, seed 1: 1000 rounds, "));
  EXPECT_TRUE(interruption_snapshot(first) == finished) << "a finished cell was touched";
  run_unbroken(scratch);
  expect_same_run(first, scratch / "unbroken/fedavg-seed-1");
  expect_same_run(second, scratch / "unbroken/scaffold-seed-1");

  const auto everything = interruption_snapshot(scratch / "out");
  EXPECT_EQ(run_program(scratch, kInterruptionResume).exit_code, 0);
  EXPECT_TRUE(interruption_snapshot(scratch / "out") == everything) << "resuming a finished experiment changed it";
}

// The writes of a cell's end, in order: checkpoint, ledger, summary. The kill came before the last.
TEST(Interruption, AKillBeforeTheSummaryLeavesACellThatOnlyEnds) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{}.toml());
  ASSERT_EQ(run_program(scratch, kInterruptionRun).exit_code, 0);
  const fs::path run = scratch / "out/fedavg-seed-1";
  const results::Summary before = summary_of(run);
  const std::string rounds = content_of(run / results::kRoundsFile);
  results::Summary running = before;
  running.state = results::kRunning;
  running.final_test_accuracy.reset();
  running.final_test_loss.reset();
  running.uplink_bytes = running.downlink_bytes = 0;
  running.uplink_bytes_per_client_round = running.downlink_bytes_per_client_round = running.seconds = 0;
  results::RunDirectory::open(run).write_summary(running);

  EXPECT_EQ(run_program(scratch, kInterruptionResume).exit_code, 0);
  EXPECT_TRUE(summary_of(run) == before);
  EXPECT_EQ(content_of(run / results::kRoundsFile), rounds);
}

TEST(Interruption, ACellIsRunByOneProcessAtATime) {
  const Scratch scratch;
  scratch.write("small.toml", many_rounds({"fedavg"}).toml());
  const fs::path run = scratch / "out/fedavg-seed-1";
  Program first(scratch, kInterruptionRun);
  ASSERT_TRUE(first.wait_until([&] { return rounds_on_disk(run) >= 1; })) << first.err();
  first.send(SIGSTOP);
  const Outcome second = run_program(scratch, kInterruptionResume);
  first.send(SIGCONT);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("fedarena: out/fedavg-seed-1: another fedarena is running this cell\n"));
  const Outcome outcome = first.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(summary_of(run).state, results::kFinished);
  EXPECT_EQ(rounds_on_disk(run), 1000);
}

TEST(Interruption, TwoThatStartAtOnceDoNotSpoilTheRun) {
  const Scratch scratch;
  SmallExperiment experiment = many_rounds({"fedavg", "fedprox"});
  experiment.rounds = 50;
  scratch.write("small.toml", experiment.toml());
  {
    Program left(scratch, kInterruptionResume);
    Program right(scratch, kInterruptionResume);
    for (const Outcome& outcome : {left.finish(), right.finish()}) {
      EXPECT_THAT(outcome.exit_code, testing::AnyOf(0, 2)) << outcome.err;
    }
  }
  EXPECT_EQ(run_program(scratch, kInterruptionResume).exit_code, 0);
  run_unbroken(scratch);
  expect_same_run(scratch / "out/fedavg-seed-1", scratch / "unbroken/fedavg-seed-1");
  expect_same_run(scratch / "out/fedprox-seed-1", scratch / "unbroken/fedprox-seed-1");
}

}  // namespace
}  // namespace fedarena::test
