// The same experiment gives the same bits when it is replayed from a bundle.
#include <string>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

class Replay : public ScratchTest {
 protected:
  Replay() { run_small(scratch, {.algorithms = {"fedavg", "scaffold"}}, ""); }

  const fs::path folder_ = scratch / "runs/small/fedavg-seed-1";
};

TEST_F(Replay, GivesTheSameBitsOnTheSameBuild) {
  EXPECT_THAT(succeed("bundle runs -o small.tar.gz").out,
              ContainsRegex("^small.tar.gz: 2 runs, 14 files, [0-9.]+ KiB\n$"));
  EXPECT_THAT(succeed("verify small.tar.gz").out,
              ContainsRegex("verified: 2 runs, [0-9]+ values, 0 differences"));

  const Outcome replayed = succeed("replay small.tar.gz --out again --workers 1");
  EXPECT_EQ(replayed.out,
            "small/fedavg-seed-1: the same bits, by the same build\n"
            "small/scaffold-seed-1: the same bits, by the same build\n"
            "2 of 2 runs came out with the same bits\n");
  expect_same_run(scratch / "runs/small/scaffold-seed-1", scratch / "again/small/scaffold-seed-1");
  EXPECT_THAT(replayed.err, Not(HasSubstr("\nseed 1: ")))
      << "a policy beside these runs may hide how data lie";

  // Before anything is run again.
  fs::remove_all(scratch / "again/small/fedavg-seed-1");
  EXPECT_THAT(refused("replay small.tar.gz --out again"),
              "fedarena: again/small/scaffold-seed-1: --out: this folder of a run is not empty, and a replay "
              "starts over\n  give another folder, or remove this one\n");
  EXPECT_FALSE(fs::exists(scratch / "again/small/fedavg-seed-1"));
}

TEST_F(Replay, KeepsRenamedRunsApart) {
  fs::create_directory(scratch / "renamed");
  fs::copy(folder_, scratch / "renamed/first", fs::copy_options::recursive);
  fs::copy(folder_, scratch / "renamed/second", fs::copy_options::recursive);
  succeed("bundle renamed -o renamed.tar.gz");
  EXPECT_THAT(
      succeed("replay renamed.tar.gz").out,
      HasSubstr("second: the same bits, by the same build\n2 of 2 runs came out with the same bits\n"));
}

TEST_F(Replay, FindsWhatWasEditedEvenWhereRecordsAgree) {
  results::RunDirectory run = results::RunDirectory::open(folder_);
  results::RoundRecord record = run.rounds().back();
  results::Summary summary = run.summary();
  record.test_loss = summary.final_test_loss = 0.125;
  run.replace_last(record);
  run.write_summary(summary);
  succeed("bundle " + folder_.string() + " -o edited.tar.gz");
  succeed("verify edited.tar.gz");
  const Outcome outcome = failed("replay edited.tar.gz");
  EXPECT_THAT(outcome.out, has_all("fedavg-seed-1: 2 values differ, by the same build; accuracy ",
                                   "  rounds.jsonl: round 3: test_loss was 0.125, came out as ",
                                   "  summary.json: final_test_loss was 0.125, came out as ",
                                   "0 of 1 run came out with the same bits\n"));
  EXPECT_THAT(outcome.err, HasSubstr("edited.tar.gz: the same build gave other bits than are recorded"));
}

TEST_F(Replay, ByAnotherBuildIsReportedAndNoError) {
  results::RunDirectory run = results::RunDirectory::open(folder_);
  run.write_file_atomically(results::kEnvironmentFile, "{\"commit\": \"0123abc\"}\n");
  results::RoundRecord record = run.rounds().back();
  record.test_loss = 0.125;
  run.replace_last(record);
  results::Summary summary = run.summary();
  summary.final_test_loss = record.test_loss;
  run.write_summary(summary);  // with a seal of all that
  succeed("bundle runs -o older.tar.gz");
  EXPECT_THAT(succeed("replay older.tar.gz").out,
              has_all("small/fedavg-seed-1: 2 values differ, by another build",
                      "another build: commit 0123abc, now ", "1 of 2 runs came out with the same bits\n"));
}

// It was unpacked to a folder that is gone when the message is read.
TEST_F(Replay, NamesWhatIsWrongByItsPlaceInTheBundle) {
  run_small(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  replace_in(run / results::kExperimentFile, "name = \"logistic\"", "name = \"logistics\"");
  edit_summary(run, [](results::Summary& /*summary*/) {});  // seals that
  succeed("bundle out -o other.tar.gz");
  EXPECT_THAT(refused("replay other.tar.gz"),
              ContainsRegex("^fedarena: other.tar.gz/fedavg-seed-1/experiment.toml:[0-9]+:8: name is "));
}

TEST_F(Replay, RefusesADeviceThatIsNotHere) {
  run_small(scratch);
  const fs::path run = scratch / "out/fedavg-seed-1";
  replace_in(run / results::kExperimentFile, "device = \"cpu\"", "device = \"cuda:99\"");
  edit_summary(run, [](results::Summary& /*summary*/) {});  // seals that
  succeed("bundle out -o gpu.tar.gz");
  EXPECT_THAT(refused("replay gpu.tar.gz"),
              AllOf(HasSubstr("the device \"cuda:99\" is asked for"), HasSubstr("Replay it where there is"),
                    Not(HasSubstr("--device"))));
}

// Nobody did anything to this run: its noise cannot be drawn again.
TEST_F(Replay, AccusesNobodyWhereNoiseIsTheSystems) {
  const std::string more = "\n[algorithms.privacy]\npolicy = \"record\"\nnoise_source = \"system\"\n";
  run_small(scratch, {.rounds = 2, .algorithms = {"dp-fedavg"}, .more = more}, "--out private");
  succeed("bundle private -o private.tar.gz");
  EXPECT_THAT(
      succeed("replay private.tar.gz").out,
      ContainsRegex("^dp-fedavg-seed-1: cannot come out with the same bits: its noise and samples are from "
                    "the system's generator .noise_source = \"system\".; accuracy [0-9.]+ % was "
                    "recorded, accuracy [0-9.]+ % came out\n"
                    "0 of 0 runs came out with the same bits; 1 more cannot be compared\n$"));
}

TEST_F(Replay, RefusesWhatIsNoBundle) {
  for (const std::string command : {"replay", "verify"}) {
    const Outcome outcome = failed(command + " small.toml");
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err,
                HasSubstr("fedarena: small.toml: this is not a bundle, or it is damaged or cut off"));
  }
  EXPECT_THAT(call("replay absent.tar.gz").err, HasSubstr("absent.tar.gz"));
}

}  // namespace
}  // namespace fedarena::test
