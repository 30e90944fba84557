// `fedarena compare`: what it prints (tests/golden/compare.txt), what it refuses
// (tests/golden/bad_compare.txt).
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/results/compare/pair_samples.hpp"

namespace fedarena::test {
namespace {

using results::FoundRun;
using results::RoundRecord;
using results::Summary;
using testing::HasSubstr;

const std::vector<double> kWorse = {0.60, 0.55, 0.65, 0.58, 0.62};
const std::vector<double> kBetter = {0.64, 0.58, 0.69, 0.61, 0.65};

// Each with a round in which the algorithm observed a radius.
void write(const Scratch& scratch, const std::string& folder, const std::vector<FoundRun>& row) {
  RoundRecord round = results::round_record(1);
  round.observed = {{"radius", 0.5}};
  for (const FoundRun& run : row) {
    const std::string path = fmt::format("{}/{}", folder, run.path.filename().string());
    scratch.write(path + "/summary.json", results::to_json_text(*run.summary));
    scratch.write(path + "/rounds.jsonl", results::to_json_line(round) + "\n");
  }
}

// Two experiments: one of three algorithms, and one with a private algorithm on another partition.
void write_runs(const Scratch& scratch) {
  write(scratch, "runs/a", results::row_of("fedavg", kWorse));
  write(scratch, "runs/a", results::row_of("fedprox", {0.61, 0.55, 0.64, 0.59}));
  write(scratch, "runs/a", results::row_of("scaffold", kBetter));
  write(scratch, "runs/private", results::row_of("dp-fedavg", kWorse, [](Summary& summary) {
          results::with_privacy(2)(summary);
          summary.partition_hash = "other";
        }));
  write(scratch, "runs/faster", results::row_of("fedavg", kBetter, [](Summary& summary) {
          summary.algorithm_parameters = {{"rate", "0.5"}};
        }));
}

TEST(Compare, PrintsWhatSeedsShow) {
  const Scratch scratch;
  write_runs(scratch);
  std::string text;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"compare", "runs/a"},
           {"compare", "runs/a", "--labels", "fedavg,scaffold", "--format", "latex"},
           {"compare", "runs/a", "runs/faster", "--labels", "fedavg"},
           {"compare", "--labels", "fedavg,dp-fedavg", "--across", "partition,epsilon", "runs/a",
            "runs/private"}}) {
    const Outcome outcome = run_program(scratch, arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    text += transcript(scratch, arguments, outcome);
  }
  expect_golden("compare.txt", text);
}

TEST(Compare, TellsItsNotesBesideCsv) {
  const Scratch scratch;
  write_runs(scratch);
  const Outcome outcome = run_program(
      scratch, {"compare", "runs/a", "--labels", "fedavg", "--labels", "scaffold", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              testing::ContainsRegex("^sweep,a,b,metric,seeds,[^\n]*,verdict\n"
                                     ",fedavg,scaffold,accuracy,5,[^\n]*,scaffold is better\n$"));
  EXPECT_THAT(outcome.err, testing::StartsWith("note: with 5 seeds Wilcoxon's p is at least 0.0625"));
}

TEST(Compare, RefusesWhatIsNoComparison) {
  const Scratch scratch;
  write_runs(scratch);
  scratch.write("runs/empty/a-file", "");
  expect_golden("bad_compare.txt",
                refusals(scratch, {{"compare"},
                                   {"compare", "nowhere"},
                                   {"compare", "runs/empty"},
                                   {"compare", "runs/faster"},
                                   {"compare", "runs/a", "--labels", "scafold,fedavg"},
                                   {"compare", "runs/a", "--metric", "acuracy"},
                                   {"compare", "runs/a", "--metric", "radius@round=1"},
                                   {"compare", "runs/a", "--across", "patition"},
                                   {"compare", "runs/a", "--format", "html"},
                                   {"compare", "runs/a", "--label", "fedavg"},
                                   {"compare", "runs/a", "runs/private", "--labels", "fedavg,dp-fedavg"},
                                   {"compare", "runs/a", "runs/private", "--across", "partition"}}));
}

// The verdict over real runs; their accuracies differ in the last bits from machine to machine.
TEST(Compare, ReadsWhatRunWrote) {
  const Scratch scratch;
  scratch.write("small.toml",
                SmallExperiment{.seeds = "[1, 2, 3]", .algorithms = {"fedavg", "scaffold"}}.toml());
  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "runs/small"}).exit_code, 0);
  const Outcome same = run_program(scratch, {"compare", "runs/small"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("\n| fedavg | scaffold |     3 | "));
  EXPECT_THAT(same.out, HasSubstr("3 rounds, no privacy.\n"));
  EXPECT_THAT(same.out, HasSubstr("seed 1 index hash 71210e180ad342a1"));
  const Outcome early = run_program(scratch, {"compare", "runs/small", "--metric", "macro-f1@round=1"});
  EXPECT_EQ(early.exit_code, 0) << early.err;
  EXPECT_THAT(early.out, HasSubstr("Macro F1 after round 1: more is better."));
  const Outcome missing = run_program(scratch, {"compare", "runs/small", "--metric", "rmse"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("runs/small/fedavg-seed-1 has no rmse in the rounds"));

  ASSERT_EQ(run_program(scratch, {"run", "small.toml", "--out", "runs/other", "--set", "partition.clients=3"})
                .exit_code,
            0);
  const Outcome refused = run_program(scratch, {"compare", "runs/small", "runs/other"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("differ in partition of seed 1: \"iid(clients=3,"));
  EXPECT_THAT(refused.err, HasSubstr("\n  --across partition compares them all the same"));
}

}  // namespace
}  // namespace fedarena::test
