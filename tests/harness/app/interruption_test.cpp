// A run that was stopped, in whatever way, ends up with the same bits as one that was not, wherever its
// clients' states lie.
#include <fstream>
#include <map>
#include <signal.h>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/stream.hpp"

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

// So many rounds that none of the signals below can come too late, each of them short.
SmallExperiment many_rounds(std::vector<std::string> algorithms) {
  return {.rounds = 1000,
          .partition = "kind = \"iid\"\nclients = 3",
          .cohort = "size = 2",
          .evaluate_every = 500,
          .training = "local_steps = 1\nbatch_size = 8\nrate = 0.05",
          .algorithms = std::move(algorithms)};
}

const CommandLine kRun = "run small.toml --out out";
const CommandLine kResume = "run small.toml --out out --resume";

const CommandLine kUnbroken = "run small.toml --out unbroken";

// For /bin/sh, before the words of a command of the program, which the script calls "$0" "$@".
CommandLine in_shell(const std::string& script) {
  return std::vector<std::string>{"-c", script, (build_folder() / "bin" / "fedarena").string()};
}

Outcome signal_cell(const Scratch& scratch, const CommandLine& command, const std::string& cell,
                    std::int64_t rounds, int signal) {
  return signal_after(scratch, command, scratch / "out" / cell, rounds, signal);
}

using Interruption = ScratchTest;

TEST_F(Interruption, CtrlCLeavesARunThatResumesToTheSameBits) {
  many_rounds({"scaffold"}).write_to(scratch);
  const fs::path run = scratch / "out/scaffold-seed-1";
  const Outcome stopped = signal_cell(scratch, kRun, "scaffold-seed-1", 1, SIGINT);
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
  EXPECT_THAT(call("list out").out, HasSubstr("  interrupted  "));

  EXPECT_THAT(succeed(kResume).err,
              HasSubstr(fmt::format("\nscaffold, seed 1: goes on after round {}\n", summary.rounds_done)));
  succeed(kUnbroken);
  expect_same_run(run, scratch / "unbroken/scaffold-seed-1");
}

TEST_F(Interruption, IsSaidToHaveCostRoundsWhereAKillLeftNoCheckpoint) {
  many_rounds({"fedavg"}).write_to(scratch);
  EXPECT_EQ(signal_cell(scratch, kRun, "fedavg-seed-1", 3, SIGKILL).signal, SIGKILL);
  const std::int64_t lost = rounds_on_disk(scratch / "out/fedavg-seed-1");
  EXPECT_THAT(succeed(kResume).err,
              HasSubstr(fmt::format(
                  "\nfedavg, seed 1: begins again: no checkpoint holds its {} rounds so far\n", lost)));
}

TEST_F(Interruption, WhatElseStopsProgramsIsAsOrderlyAsCtrlC) {
  many_rounds({"fedavg"}).write_to(scratch);
  std::int64_t rounds = 1;
  for (const int signal : {SIGTERM, SIGHUP, SIGXCPU}) {
    const Outcome stopped = signal_cell(scratch, kResume, "fedavg-seed-1", rounds, signal);
    EXPECT_EQ(stopped.exit_code, 130);
    EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kInterrupted);
    EXPECT_TRUE(fs::exists(scratch / "out/fedavg-seed-1" / results::kCheckpointFile));
    rounds = summary_of(scratch / "out/fedavg-seed-1").rounds_done + 1;
  }
}

// Loading its libraries takes a program longer than a user who changes his mind.
TEST_F(Interruption, IsOneLineBeforeAnythingBegan) {
  SmallExperiment{}.write_to(scratch);
  for (const char* program : {"fedarena", "fedarena-full"}) {
    for (const CommandLine& command : {kRun, CommandLine("table nowhere")}) {
      for (const int signal : {SIGINT, SIGTERM}) {
        const Outcome stopped =
            call(command, {.program = (build_folder() / "bin" / program).string(), .signal = signal});
        EXPECT_EQ(stopped.exit_code, 130) << program;
        EXPECT_EQ(stopped.err, "Stopped.\n");
      }
    }
  }
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

// Begun by another plugin or on another device than the one that is there now, as its record has it.
class BegunElsewhere : public ScratchTest {
 protected:
  BegunElsewhere() { run_small(scratch); }
  // Makes the run one that has to go on.
  void begun_in(const std::function<void(nlohmann::json& environment)>& edit) const {
    const std::string file = "out/fedavg-seed-1/environment.json";
    unfinish(scratch / "out/fedavg-seed-1");
    auto environment = nlohmann::json::parse(content_of(scratch / file));
    edit(environment);
    scratch.write(file, environment.dump());
  }
};

// Its noise on data from files is another, so that rounds that were lost would be answered twice.
TEST_F(BegunElsewhere, OfAnotherVersionARunIsNotResumed) {
  begun_in([](nlohmann::json& environment) {
    for (nlohmann::json& plugin : environment["plugins"]) plugin["version"] = "0.9.0";
  });
  EXPECT_THAT(
      refused(kResume),
      has_all(
          "out/fedavg-seed-1: the run was begun with fedavg 0.9.0, but \"fedavg\" is now of fedavg 1.0.0\n",
          "Finish it with the version that began it"));
}

// Rounds on two kinds of device would be of neither.
TEST_F(BegunElsewhere, OnAnotherDeviceARunIsNotResumed) {
  begun_in([](nlohmann::json& environment) { environment["device"] = "cuda:0"; });
  EXPECT_THAT(refused(kResume),
              has_all("out/fedavg-seed-1: the run was begun on the device cuda:0, but would go on on cpu\n",
                      "Finish it on a machine that has the device that began it"));
}

// As nohup has it, and a shell for what runs in the background.
TEST_F(Interruption, AnIgnoredSignalStaysIgnored) {
  many_rounds({"fedavg"}).write_to(scratch);
  Program run(scratch, in_shell("trap '' INT HUP TERM; exec \"$0\" \"$@\"") + kRun, {.program = "/bin/sh"});
  EXPECT_TRUE(run.wait_until([&] {
    return fs::exists(scratch / "out/fedavg-seed-1/summary.json") &&
           rounds_on_disk(scratch / "out/fedavg-seed-1") > 0;
  })) << run.err();
  for (const int signal : {SIGINT, SIGHUP, SIGTERM}) run.send(signal);
  EXPECT_EQ(run.finish().exit_code, 0);
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kFinished);
}

TEST_F(Interruption, ARunGoesOnWhenNobodyReadsItsNotes) {
  SmallExperiment{.seeds = "[1, 2, 3]"}.write_to(scratch);
  call(in_shell("\"$0\" \"$@\" 2>&1 | head -c 1") + kRun, {.program = "/bin/sh"});
  for (const char* cell : {"fedavg-seed-1", "fedavg-seed-2", "fedavg-seed-3"})
    EXPECT_EQ(summary_of(scratch / "out" / cell).state, results::kFinished) << cell;
}

TEST_F(Interruption, AFileOfLimitedSizeIsAMessage) {
  many_rounds({"fedavg"}).write_to(scratch);
  EXPECT_THAT(refused(in_shell("ulimit -f 20; exec \"$0\" \"$@\"") + kRun, {.program = "/bin/sh"}),
              HasSubstr("cannot be written: File too large\n  raise the limit of a file's size"));
  EXPECT_EQ(summary_of(scratch / "out/fedavg-seed-1").state, results::kInterrupted);
}

// Cells of every policy and both sources of noise. What anybody could read of a round stays as it was and is
// charged, and what can be drawn again ends up with the same bits.
TEST_F(Interruption, RandomKillsChangeNothingThatWasPublished) {
  const int kills = long_tests() ? 120 : 6;
  SmallExperiment experiment = many_rounds({"fedavg"});
  experiment.rounds = 16;
  experiment.evaluate_every = 1;
  std::vector<std::string> repeatable = {"fedavg"}, unique;
  for (const std::string policy : {"record", "client", "local", "label"}) {
    for (const std::string source : {"stream", "system"}) {
      const std::string label = policy + "-" + source;
      (source == "stream" ? repeatable : unique).push_back(label);
      experiment.more += "[[algorithms]]\nname = \"fedavg\"\nweighting = \"uniform\"\nlabel = \"" + label +
                         "\"\n[algorithms.privacy]\npolicy = \"" + policy + "\"\nnoise_source = \"" + source +
                         "\"\n";
    }
  }
  experiment.write_to(scratch);
  succeed(kUnbroken);

  const auto run_of = [&](const std::string& label) { return scratch / ("out/" + label + "-seed-1"); };
  const auto all_rounds = [&] {
    std::int64_t rounds = 0;
    for (const auto* labels : {&repeatable, &unique}) {
      for (const std::string& label : *labels) rounds += rounds_on_disk(run_of(label));
    }
    return rounds;
  };
  std::map<std::pair<std::string, std::size_t>, double> published;
  std::size_t compared = 0;
  const auto check_published = [&] {
    for (const std::string& label : unique) {
      if (!fs::exists(run_of(label) / results::kSummaryFile)) continue;
      const std::vector<results::RoundRecord> rounds = rounds_of(run_of(label));
      for (std::size_t round = 0; round < rounds.size(); ++round) {
        const double loss = *rounds[round].test_loss;
        const auto [before, is_new] = published.try_emplace({label, round}, loss);
        EXPECT_EQ(before->second, loss) << label << " " << round;
        compared += is_new ? 0 : 1;
      }
    }
    if (all_rounds() > 0) succeed("verify out");  // epsilon and the ledger, of what is there so far
  };
  const auto finish = [&] {
    succeed(kResume);
    check_published();
    for (const std::string& label : repeatable) {
      expect_same_run(run_of(label), scratch / ("unbroken/" + label + "-seed-1"));
    }
  };
  const std::int64_t cells = static_cast<std::int64_t>(repeatable.size() + unique.size());
  Stream draws({.seed = 27});
  int killed = 0;
  for (int tries = 0; killed < kills && tries < 4 * kills; ++tries) {
    const std::int64_t target = all_rounds() + 1 + static_cast<std::int64_t>(draws.below(36));
    Program program(scratch, kResume);
    program.wait_until([&] { return all_rounds() >= target; });
    program.send(SIGKILL);
    killed += program.finish().signal == SIGKILL ? 1 : 0;
    check_published();
    if (all_rounds() == cells * experiment.rounds) {  // from the start again
      finish();
      fs::remove_all(scratch / "out");
      published.clear();
    }
  }
  EXPECT_EQ(killed, kills);
  finish();
  EXPECT_GT(compared, 0U);
}

TEST_F(Interruption, WhatSomebodyDamagesMeanwhileIsWrittenAgainAtTheEnd) {
  many_rounds({"fedavg"}).write_to(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  Program program(scratch, kRun);
  ASSERT_TRUE(program.wait_until([&] { return rounds_on_disk(run) >= 1; })) << program.err();
  program.send(SIGSTOP);
  fs::remove(run / results::kExperimentFile);
  fs::resize_file(run / results::kPartitionFile, 10);
  program.send(SIGCONT);
  EXPECT_EQ(program.finish().exit_code, 0) << program.err();
  succeed("verify out");
}

TEST_F(Interruption, ACellIsRunByOneProcessAtATime) {
  many_rounds({"fedavg"}).write_to(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  Program first(scratch, kRun);
  ASSERT_TRUE(first.wait_until([&] { return rounds_on_disk(run) >= 1; })) << first.err();
  first.send(SIGSTOP);
  const Outcome second = call(kResume);
  first.send(SIGCONT);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("fedarena: out/fedavg-seed-1: another fedarena is running this cell\n"));
  const Outcome outcome = first.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(summary_of(run).state, results::kFinished);
  EXPECT_EQ(rounds_on_disk(run), 1000);
}

TEST_F(Interruption, LeavesNothingOfWhatABundleWasUnpackedTo) {
  run_small(scratch, many_rounds({"fedavg"}));
  succeed("bundle out -o b.tgz");
  const fs::path temporary = scratch / "tmp";
  fs::create_directory(temporary);
  CommandLine verify("verify");
  for (int i = 0; i < 100; ++i) verify = verify + "b.tgz";  // so many that the signal is not too late
  for (const CommandLine& command : {verify, CommandLine("replay b.tgz")}) {
    Program program(scratch, command, {.environment = {{"TMPDIR", temporary.string()}}});
    ASSERT_TRUE(program.wait_until([&] { return !fs::is_empty(temporary); })) << program.err();
    program.send(SIGINT);
    EXPECT_EQ(program.finish().exit_code, 130) << program.err();
    EXPECT_TRUE(fs::is_empty(temporary));
  }
}

TEST_F(Interruption, TwoThatStartAtOnceDoNotSpoilTheRun) {
  SmallExperiment experiment = many_rounds({"fedavg", "fedprox"});
  experiment.rounds = 50;
  experiment.write_to(scratch);
  {
    Program left(scratch, kResume);
    Program right(scratch, kResume);
    for (const Outcome& outcome : {left.finish(), right.finish()}) {
      EXPECT_THAT(outcome.exit_code, testing::AnyOf(0, 2)) << outcome.err;
    }
  }
  succeed(kResume);
  succeed(kUnbroken);
  expect_same_runs(scratch / "out", scratch / "unbroken");
}

const CommandLine kRunOnDisk = kRun + "--state-memory 1e-6";
const CommandLine kResumeOnDisk = kResume + "--state-memory 1e-6";

class StateMemory : public ScratchTest {
 protected:
  StateMemory() {
    SmallExperiment experiment = many_rounds({"scaffold"});
    experiment.partition = "kind = \"iid\"\nclients = 6";
    experiment.evaluate_every = 250;
    experiment.write_to(scratch);
  }

  Outcome signal_at(std::int64_t rounds, int signal, const CommandLine& command) {
    return signal_after(scratch, command, run, rounds, signal);
  }

  // The rounds hold losses of the model in full.
  void expect_same_as_in_memory() {
    succeed(kUnbroken);
    const fs::path unbroken = scratch / "unbroken/scaffold-seed-1";
    EXPECT_TRUE(timeless_rounds_of(run) == timeless_rounds_of(unbroken));
    EXPECT_EQ(content_of(run / results::kLedgerFile), content_of(unbroken / results::kLedgerFile));
  }

  const fs::path run = scratch / "out/scaffold-seed-1";
  const fs::path states = run / results::kClientStatesFile;
};

TEST_F(StateMemory, InAFileGivesTheSameBitsAfterCtrlCAndAKill) {
  EXPECT_EQ(signal_at(20, SIGINT, kRunOnDisk).exit_code, 130);
  EXPECT_TRUE(fs::exists(states));
  const std::int64_t kept = summary_of(run).rounds_done;
  ASSERT_LT(kept, 900);
  EXPECT_EQ(signal_at(kept + 30, SIGKILL, kResumeOnDisk).signal, SIGKILL);
  succeed(kResumeOnDisk);
  EXPECT_FALSE(fs::exists(states)) << "a finished run is only read";
  expect_same_as_in_memory();
}

TEST_F(StateMemory, MayBeAnotherWhenARunIsResumed) {
  EXPECT_EQ(signal_at(20, SIGINT, kRun).exit_code, 130);
  EXPECT_FALSE(fs::exists(states));
  EXPECT_EQ(signal_at(summary_of(run).rounds_done + 20, SIGINT, kResumeOnDisk).exit_code, 130);
  EXPECT_TRUE(fs::exists(states));
  succeed(kResume);
  expect_same_as_in_memory();
}

TEST_F(StateMemory, NamesTheFileWhenItIsDamaged) {
  EXPECT_EQ(signal_at(50, SIGINT, kRunOnDisk).exit_code, 130);
  const std::string rounds = content_of(run / results::kRoundsFile);
  const std::string content = content_of(states);

  std::string damaged = content;
  for (char& byte : damaged) byte = static_cast<char>(byte ^ 4);
  std::ofstream(states, std::ios::binary) << damaged;
  EXPECT_THAT(refused(kResumeOnDisk),
              has_all("fedarena: out/scaffold-seed-1/client-states.bin: is damaged: the checksum",
                      "Remove the run directory to run this cell again from the start."));

  EXPECT_EQ(content_of(run / results::kRoundsFile), rounds);
  std::ofstream(states, std::ios::binary) << content;  // as it was: nothing else was harmed
  succeed(kResumeOnDisk);
  expect_same_as_in_memory();
}

}  // namespace
}  // namespace fedarena::test
