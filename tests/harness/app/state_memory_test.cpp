// What clients remember lies in a file of the run directory when it is too much for the memory; runs are
// stopped, killed and resumed all the same.
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <string>
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

constexpr const char* kCell = "scaffold-seed-1";
const std::vector<std::string> kStateMemoryRun{"run", "small.toml", "--out", "out", "--state-memory", "1e-6"};
const std::vector<std::string> kStateMemoryResume{"run",  "small.toml", "--out", "out", "--state-memory",
                                       "1e-6", "--resume"};

class StateMemory : public ::testing::Test {
 protected:
  StateMemory() {
    const SmallExperiment experiment{.rounds = 1000,
                                     .partition = "kind = \"iid\"\nclients = 6",
                                     .cohort = "size = 2",
                                     .evaluate_every = 250,
                                     .training = "local_steps = 1\nbatch_size = 8\nrate = 0.05",
                                     .algorithms = {"scaffold"}};
    scratch.write("small.toml", experiment.toml());
  }

  Outcome signal_after(const std::vector<std::string>& arguments, std::int64_t rounds, int signal) {
    Program program(scratch, arguments);
    EXPECT_TRUE(program.wait_until([&] {
      return fs::exists(run / results::kSummaryFile) && rounds_on_disk(run) >= rounds;
    })) << program.err();
    program.send(signal);
    return program.finish();
  }

  // The rounds hold losses of the model in full.
  void expect_same_as_in_memory() {
    const Outcome unbroken = run_program(scratch, {"run", "small.toml", "--out", "unbroken"});
    ASSERT_EQ(unbroken.exit_code, 0) << unbroken.err;
    EXPECT_TRUE(timeless_rounds_of(run) == timeless_rounds_of(scratch / "unbroken" / kCell));
    EXPECT_EQ(content_of(run / results::kLedgerFile),
              content_of(scratch / "unbroken" / kCell / results::kLedgerFile));
  }

  Scratch scratch;
  const fs::path run = scratch / "out" / kCell;
  const fs::path states = run / results::kClientStatesFile;
};

TEST_F(StateMemory, InAFileGivesTheSameBitsAfterCtrlCAndAKill) {
  EXPECT_EQ(signal_after(kStateMemoryRun, 20, SIGINT).exit_code, 130);
  EXPECT_TRUE(fs::exists(states));
  const std::int64_t kept = summary_of(run).rounds_done;
  ASSERT_LT(kept, 900);
  EXPECT_EQ(signal_after(kStateMemoryResume, kept + 30, SIGKILL).signal, SIGKILL);
  const Outcome resumed = run_program(scratch, kStateMemoryResume);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_FALSE(fs::exists(states)) << "a finished run is only read";
  expect_same_as_in_memory();
}

TEST_F(StateMemory, MayBeAnotherWhenARunIsResumed) {
  EXPECT_EQ(signal_after({"run", "small.toml", "--out", "out"}, 20, SIGINT).exit_code, 130);
  EXPECT_FALSE(fs::exists(states));
  EXPECT_EQ(signal_after(kStateMemoryResume, summary_of(run).rounds_done + 20, SIGINT).exit_code, 130);
  EXPECT_TRUE(fs::exists(states));
  const Outcome resumed = run_program(scratch, {"run", "small.toml", "--out", "out", "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_same_as_in_memory();
}

TEST_F(StateMemory, NamesTheFileWhenItIsDamaged) {
  EXPECT_EQ(signal_after(kStateMemoryRun, 50, SIGINT).exit_code, 130);
  const std::string rounds = content_of(run / results::kRoundsFile);
  const std::string content = content_of(states);

  std::string damaged = content;
  for (char& byte : damaged) byte = static_cast<char>(byte ^ 4);
  std::ofstream(states, std::ios::binary) << damaged;
  Outcome refused = run_program(scratch, kStateMemoryResume);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("fedarena: out/scaffold-seed-1/client-states.bin: is damaged: the checksum"));
  EXPECT_THAT(refused.err, HasSubstr("Remove the run directory to run this cell again from the start."));

  fs::resize_file(states, 100);
  refused = run_program(scratch, kStateMemoryResume);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("client-states.bin: is cut short: it has 100 bytes of "));

  fs::remove(states);
  refused = run_program(scratch, kStateMemoryResume);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("client-states.bin: is missing, and the checkpoint needs it"));

  EXPECT_EQ(content_of(run / results::kRoundsFile), rounds);
  std::ofstream(states, std::ios::binary) << content;  // as it was: nothing else was harmed
  EXPECT_EQ(run_program(scratch, kStateMemoryResume).exit_code, 0);
  expect_same_as_in_memory();
}

}  // namespace
}  // namespace fedarena::test
