// `fedarena export`: every number of every round, for other programs.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using results::RunDirectory;
using testing::HasSubstr;
using testing::StartsWith;

// A run of two planned rounds.
void record(const fs::path& folder, std::int64_t seed, std::int64_t rounds) {
  results::Summary summary =
      rounds == 2 ? results::finished("fedavg", seed, 0.75) : results::unfinished("fedavg", seed, rounds);
  summary.rounds = 2;
  summary.rounds_done = rounds;
  RunDirectory run =
      RunDirectory::create(folder / fmt::format("fedavg-seed-{}", seed), "[experiment]\n", "{}\n", summary);
  while (run.rounds_recorded() < rounds) run.append(results::round_record(run.rounds_recorded() + 1));
}

TEST(Export, WritesOneLineARunRoundAndMeasure) {
  const Scratch scratch;
  record(scratch / "runs", 1, 2);
  record(scratch / "runs", 2, 1);
  const Outcome outcome = run_program(
      scratch, {"export", "runs", "--format", "csv", "-o", "a.csv", "--measures", "test_accuracy"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "a.csv: 2 runs, 3 rounds in all, 1 measure\n");
  EXPECT_EQ(outcome.err, "note: 1 of 2 runs is not finished: exported as far as they are\n");
  EXPECT_EQ(content_of(scratch / "a.csv"),
            "run,experiment,dataset,partition,model,algorithm,label,seed,state,policy,unit,adjacency,delta,"
            "round,measure,value\n"
            "fedavg-seed-1,quickstart,digits,iid,mlp,fedavg,fedavg,1,finished,none,,,,1,test_accuracy,0.75\n"
            "fedavg-seed-1,quickstart,digits,iid,mlp,fedavg,fedavg,1,finished,none,,,,2,test_accuracy,0.75\n"
            "fedavg-seed-2,quickstart,digits,iid,mlp,fedavg,fedavg,2,interrupted,none,,,,1,test_accuracy,"
            "0.75\n");
  EXPECT_EQ(run_program(scratch, {"export", "runs", "--format", "jsonl", "-o", "a.jsonl"}).exit_code, 0);
  EXPECT_THAT(content_of(scratch / "a.jsonl"), StartsWith(R"({"run":"fedavg-seed-1",)"));
}

TEST(Export, WritesAnEventFileARunTheSameEveryTime) {
  const Scratch scratch;
  record(scratch / "runs", 1, 2);
  record(scratch / "runs/deeper", 2, 2);
  const std::vector<std::string> command = {"export", "runs", "--format", "tensorboard", "-o", "new/board"};
  EXPECT_EQ(run_program(scratch, command).out, "new/board: 2 runs, 4 rounds in all, 11 measures\n");
  const std::string name = "events.out.tfevents.0000000000.fedarena";
  const std::string first = content_of(scratch / "new/board/fedavg-seed-1" / name);
  EXPECT_THAT(first, HasSubstr("brain.Event:2"));
  EXPECT_TRUE(fs::exists(scratch / "new/board/deeper/fedavg-seed-2" / name));
  EXPECT_EQ(run_program(scratch, command).exit_code, 0);
  EXPECT_EQ(content_of(scratch / "new/board/fedavg-seed-1" / name), first);
}

TEST(Export, LeavesOutBrokenRunsAndNamesFileAndField) {
  const Scratch scratch;
  record(scratch / "runs", 1, 2);
  record(scratch / "runs", 2, 2);
  scratch.write("runs/fedavg-seed-2/rounds.jsonl", "{\"round\": 1}\n");
  const Outcome outcome = run_program(scratch, {"export", "runs", "--format", "csv", "-o", "a.csv"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "a.csv: 1 run, 2 rounds in all, 11 measures\n");
  EXPECT_EQ(outcome.err,
            "note: runs/fedavg-seed-2: rounds.jsonl:1: field \"test_loss\" is missing; not exported\n");
}

TEST(Export, RefusesWithOneMessage) {
  const Scratch scratch;
  record(scratch / "runs", 1, 2);
  scratch.write("broken/a/summary.json", "{}");
  fs::create_directories(scratch / "folder");
  const std::string summary = content_of(scratch / "runs/fedavg-seed-1/summary.json");
  const std::string inside = "runs/fedavg-seed-1/summary.json";
  expect_golden(
      "bad_exports.txt",
      refusals(scratch, {{"export", "runs"},
                         {"export", "runs", "--format", "csv"},
                         {"export", "runs", "-o", "a.csv"},
                         {"export", "-o", "a.csv", "--format", "csv"},
                         {"export", "nowhere", "-o", "a.csv", "--format", "csv"},
                         {"export", "folder", "-o", "a.csv", "--format", "csv"},
                         {"export", "broken", "-o", "a.csv", "--format", "csv"},
                         {"export", "runs", "-o", "a.csv", "--format", "tensorbord"},
                         {"export", "runs", "-o", "a.csv", "--format", "csv", "--measures", "acuracy"},
                         {"export", "runs", "-o", "a.csv", "--format", "csv", "--measures", "rmse"},
                         {"export", "runs", "-o", "missing/a.csv", "--format", "csv"},
                         {"export", "runs", "-o", "folder", "--format", "jsonl"},
                         {"export", "runs", "-o", "/dev/null", "--format", "csv"},
                         {"export", "runs", "-o", inside, "--format", "csv"},
                         {"export", "runs", "-o", "runs", "--format", "tensorboard"},
                         {"export", "runs", "-o", inside, "--format", "tensorboard"}}));
  EXPECT_FALSE(fs::exists(scratch / "a.csv"));
  EXPECT_EQ(content_of(scratch / inside), summary);
}

}  // namespace
}  // namespace fedarena::test
