// `fedarena plot`: curves of finished runs, from run directories alone.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::test {
namespace {

using results::RunDirectory;
using testing::HasSubstr;
using testing::StartsWith;

// Runs of two seeds that reach these accuracies.
void record(const Scratch& scratch, const std::string& label, double first, double second) {
  std::int64_t seed = 0;
  for (const double accuracy : {first, second}) {
    results::Summary summary = results::finished(label, ++seed, accuracy);
    summary.rounds = summary.rounds_done = 2;
    RunDirectory run = RunDirectory::create(scratch / "runs" / fmt::format("{}-seed-{}", label, seed),
                                            "[experiment]\n", "{}\n", summary);
    for (const double reached : {accuracy / 2, accuracy}) {
      results::RoundRecord round = results::round_record(run.rounds_recorded() + 1);
      round.test_accuracy = reached;
      run.append(round);
    }
  }
}

TEST(Plot, DrawsCurvesAndSaysWhereTheyEnd) {
  const Scratch scratch;
  record(scratch, "fedavg", 0.5, 0.6);
  record(scratch, "scaffold", 0.75, 0.75);
  const Outcome outcome = run_program(scratch, {"plot", "runs", "-o", "a.svg", "--x", "bytes"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "a.svg: accuracy (%) over bytes sent, up and down (MiB)\n"
            "curve     rounds  seeds  last accuracy  at bytes\n"
            "fedavg    1 to 2      2   55.00 ± 7.07  0.234375\n"
            "scaffold  1 to 2      2   75.00 ± 0.00  0.234375\n");
  EXPECT_THAT(content_of(scratch / "a.svg"), HasSubstr(">scaffold</text>"));
}

TEST(Plot, TakesTheLabelsThatAreAskedFor) {
  const Scratch scratch;
  record(scratch, "fedavg", 0.5, 0.6);
  record(scratch, "scaffold", 0.75, 0.75);
  const Outcome outcome =
      run_program(scratch, {"plot", "runs", "-o", "a.pdf", "--labels", "scaffold", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["panels"][0]["curves"].size(), 1U);
  EXPECT_EQ(json["panels"][0]["curves"][0]["name"], "scaffold");
  EXPECT_THAT(content_of(scratch / "a.pdf"), StartsWith("%PDF"));
}

TEST(Plot, RefusesWithOneMessage) {
  const Scratch scratch;
  record(scratch, "fedavg", 0, 0);
  expect_golden("bad_plots.txt", refusals(scratch, {{"plot", "runs"},
                                                    {"plot", "-o", "a.svg"},
                                                    {"plot", "nowhere", "-o", "a.svg"},
                                                    {"plot", "runs", "-o", "a.gif"},
                                                    {"plot", "runs", "-o", "a.svg", "--x", "epoch"},
                                                    {"plot", "runs", "-o", "a.svg", "--y", "acuracy"},
                                                    {"plot", "runs", "-o", "a.svg", "--x", "epsilon"},
                                                    {"plot", "runs", "-o", "a.svg", "--labels", "fedavgm"},
                                                    {"plot", "runs", "-o", "a.svg", "--log-y"},
                                                    {"plot", "runs", "-o", "a.svg", "--roc", "--y", "loss"},
                                                    {"plot", "runs", "-o", "a.svg", "--roc", "--log-x"},
                                                    {"plot", "runs", "-o", "a.svg", "--class", "3"},
                                                    {"plot", "runs", "-o", "a.svg", "--roc", "--class", "x"},
                                                    {"plot", "runs", "-o", "a.svg", "--roc"},
                                                    {"plot", "runs", "-o", "missing/a.svg"}}));
  EXPECT_FALSE(std::filesystem::exists(scratch / "a.svg"));
}

}  // namespace
}  // namespace fedarena::test
