// `fedarena plot`: curves of finished runs, from run directories alone.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/record/roc_file.hpp"
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

TEST(Plot, DrawsReceiverOperatingCharacteristics) {
  const Scratch scratch;
  record(scratch, "fedavg", 0.5, 0.6);
  const std::vector<double> members = {4, 2}, others = {3, 1};
  results::write_roc(
      RunDirectory::open(scratch / "runs/fedavg-seed-1"),
      {{"first", *results::roc_curve(members, others)}, {"second", *results::roc_curve(others, members)}});
  const Outcome outcome = run_program(scratch, {"plot", "runs", "-o", "a.svg", "--roc"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "a.svg: receiver operating characteristics\n"
            "curve      AUC\n"
            "first   0.7500\n"
            "second  0.2500\n");
  EXPECT_THAT(content_of(scratch / "a.svg"), HasSubstr(">second, AUC 0.2500</text>"));
  const Outcome json = run_program(scratch, {"plot", "runs", "-o", "a.svg", "--roc", "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["curves"][0]["auc"], 0.75);
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
                                                    {"plot", "runs", "-o", "a.svg", "--roc"},
                                                    {"plot", "runs", "-o", "missing/a.svg"}}));
  EXPECT_FALSE(std::filesystem::exists(scratch / "a.svg"));
}

}  // namespace
}  // namespace fedarena::test
