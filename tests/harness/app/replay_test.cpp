// From runs to a bundle, and from a bundle to the same runs.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class Replay : public testing::Test {
 protected:
  Replay() {
    scratch_.write("small.toml", SmallExperiment{.algorithms = {"fedavg", "scaffold"}}.toml());
    EXPECT_EQ(run_program(scratch_, {"run", "small.toml"}).exit_code, 0);
  }
  Outcome call(const std::vector<std::string>& words) { return run_program(scratch_, words); }

  Scratch scratch_;
};

TEST_F(Replay, GivesTheSameBitsOnTheSameBuild) {
  const Outcome bundled = call({"bundle", "runs", "-o", "small.tar.gz"});
  ASSERT_EQ(bundled.exit_code, 0) << bundled.err;
  EXPECT_THAT(bundled.out, ContainsRegex("^small.tar.gz: 2 runs, 14 files, [0-9.]+ KiB\n$"));
  const Outcome verified = call({"verify", "small.tar.gz"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_THAT(verified.out, ContainsRegex("verified: 2 runs, [0-9]+ values, 0 differences"));

  const Outcome outcome = call({"replay", "small.tar.gz", "--out", "again", "--workers", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "small/fedavg-seed-1: the same bits, by the same build\n"
            "small/scaffold-seed-1: the same bits, by the same build\n"
            "2 of 2 runs came out with the same bits\n");
  expect_same_run(scratch_ / "runs/small/scaffold-seed-1", scratch_ / "again/small/scaffold-seed-1");
}

TEST_F(Replay, FindsWhatWasEditedEvenWhereRecordsAgree) {
  const std::filesystem::path folder = scratch_ / "runs/small/fedavg-seed-1";
  results::RunDirectory run = results::RunDirectory::open(folder);
  results::RoundRecord record = run.rounds().back();
  results::Summary summary = run.summary();
  record.test_loss = summary.final_test_loss = 0.125;
  run.replace_last(record);
  run.write_summary(summary);
  ASSERT_EQ(call({"bundle", folder.string(), "-o", "edited.tar.gz"}).exit_code, 0);
  EXPECT_EQ(call({"verify", "edited.tar.gz"}).exit_code, 0);
  const Outcome outcome = call({"replay", "edited.tar.gz"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fedavg-seed-1: 2 values differ, by the same build; accuracy "),
                                 HasSubstr("  rounds.jsonl: round 3: test_loss was 0.125, came out as "),
                                 HasSubstr("  summary.json: final_test_loss was 0.125, came out as "),
                                 HasSubstr("0 of 1 run came out with the same bits\n")));
  EXPECT_THAT(outcome.err, HasSubstr("edited.tar.gz: the same build gave other bits than are recorded"));
}

TEST_F(Replay, ByAnotherBuildIsReportedAndNoError) {
  const std::filesystem::path folder = scratch_ / "runs/small/fedavg-seed-1";
  results::RunDirectory run = results::RunDirectory::open(folder);
  run.write_file_atomically(results::kEnvironmentFile, "{\"commit\": \"0123abc\"}\n");
  results::RoundRecord record = run.rounds().back();
  record.test_loss = 0.125;
  run.replace_last(record);
  ASSERT_EQ(call({"bundle", "runs", "-o", "older.tar.gz"}).exit_code, 0);
  const Outcome outcome = call({"replay", "older.tar.gz"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("small/fedavg-seed-1: 1 value differs, by another build"),
                                 HasSubstr("another build: commit 0123abc, now "),
                                 HasSubstr("1 of 2 runs came out with the same bits\n")));
}

TEST_F(Replay, RefusesWhatIsNoBundle) {
  for (const char* command : {"replay", "verify"}) {
    const Outcome outcome = call({command, "small.toml"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err,
                HasSubstr("fedarena: small.toml: this is no bundle, or it is damaged or cut off"));
  }
  EXPECT_THAT(call({"replay", "absent.tar.gz"}).err, HasSubstr("absent.tar.gz"));
}

}  // namespace
}  // namespace fedarena::test
