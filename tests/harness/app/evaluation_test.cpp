// Validation examples, tests of each client, and rules that stop a run, through the program.
#include <algorithm>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Evaluation, TestsClientsAndHoldsExamplesOut) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.partition = "kind = \"classes\"\nclients = 5"}.toml());
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--set", "evaluation.per_client=true",
                                                "--set", "evaluation.validation_fraction=0.25"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto run = scratch / "runs/small/fedavg-seed-1";
  for (const results::RoundRecord& round : rounds_of(run)) {
    ASSERT_TRUE(round.per_client && round.classes && round.validation_accuracy);
    EXPECT_EQ(round.per_client->tested, 5);
    EXPECT_LE(round.per_client->accuracy_worst, round.per_client->accuracy_mean);
    // Five clients with two of ten equally large classes each share the test set evenly.
    EXPECT_NEAR(round.per_client->accuracy_mean, *round.test_accuracy, 1e-12);
    // Like the test set, they are a sample of what the model is trained on: 3,000 and 2,000 examples, so that
    // a difference of 0.08 is more than five standard deviations.
    EXPECT_NEAR(*round.validation_accuracy, *round.test_accuracy, 0.08);
  }
  const results::Summary summary = summary_of(run);
  // Models of fewer examples are not averaged with those of all.
  EXPECT_EQ(summary.dataset, "glyphs (validation_fraction = 0.25)");
  ASSERT_TRUE(summary.per_client && summary.best_round);
  EXPECT_GE(summary.best_round->accuracy_mean, summary.per_client->accuracy_mean);
  const std::optional<results::ClientScores> scores = results::RunDirectory::open(run).client_scores();
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->round, 3);
  EXPECT_EQ(scores->clients.size(), 5U);
  EXPECT_EQ(results::client_metrics(scores->clients), *summary.per_client);
  std::int64_t tested = 0;
  for (const results::ClientScore& client : scores->clients) tested += client.test_examples;
  EXPECT_EQ(tested, 2000) << "each test example is one client's";
  // A quarter of the 12,000 training examples belongs to nobody.
  EXPECT_THAT(outcome.err, Not(HasSubstr("size 2,400 each")));

  const Outcome table = run_program(scratch, {"table", "runs/small"});
  EXPECT_THAT(table.out, HasSubstr("| clients (%) | worst client (%) | BMTA (%) | BMT-F1 (%) |"));
  const Outcome verified = run_program(scratch, {"verify", "runs/small"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST(Evaluation, ARuleEndsARunWhichResumeLeavesAlone) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.rounds = 9}.toml());
  std::vector<std::string> command = {
      "run",   "small.toml",          "--set", "evaluation.validation_fraction=0.1",
      "--set", "stopping.patience=1", "--set", "stopping.improvement=0.9"};
  ASSERT_EQ(run_program(scratch, command).exit_code, 0);
  // Nothing improves by 90 points after the first round.
  const auto run = scratch / "runs/small/fedavg-seed-1";
  EXPECT_EQ(summary_of(run).state, results::kFinished);
  EXPECT_EQ(summary_of(run).stopped, "patience");
  EXPECT_EQ(summary_of(run).rounds_done, 2);
  command.emplace_back("--resume");
  EXPECT_THAT(run_program(scratch, command).err, HasSubstr("(finished before)"));
  EXPECT_THAT(run_program(scratch, {"table", "runs/small"}).out,
              HasSubstr("stopped without a better validation score: fedavg, seed 1 (round 2 of 9)"));
  EXPECT_EQ(run_program(scratch, {"verify", "runs/small"}).exit_code, 0);
}

}  // namespace
}  // namespace fedarena::test
