// Runs under a profile of the experiment file.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Profile, RunsIntoAFolderOfItsOwnAndGivesWayToSet) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{}.toml() + "\n[profiles.quick]\n\"experiment.rounds\" = 1\n" +
                                  "\"partition.train_fraction\" = 0.5\n\"algorithms.fedavg.rate\" = 0.2\n");
  ASSERT_EQ(run_program(scratch, {"run", "small.toml"}).exit_code, 0);
  const Outcome outcome = run_program(
      scratch, {"run", "small.toml", "--profile", "quick", "--set", "algorithms.fedavg.rate=0.3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("iid: 4 clients, 10 classes each, size 1,500 each, label entropy "));
  EXPECT_THAT(outcome.err, HasSubstr("Results are in runs/small-quick;"));

  EXPECT_EQ(summary_of(scratch / "runs/small/fedavg-seed-1").rounds_done, 3);
  const fs::path quick = scratch / "runs/small-quick/fedavg-seed-1";
  EXPECT_EQ(summary_of(quick).experiment, "small-quick");
  EXPECT_EQ(summary_of(quick).rounds_done, 1);
  // The record needs no profile any more.
  EXPECT_THAT(content_of(quick / results::kExperimentFile), HasSubstr("\nrate = 0.3"));
  ASSERT_EQ(
      run_program(scratch, {"run", (quick / results::kExperimentFile).string(), "--out", "again"}).exit_code,
      0);
  expect_same_run(quick, scratch / "again/fedavg-seed-1");
}

}  // namespace
}  // namespace fedarena::test
