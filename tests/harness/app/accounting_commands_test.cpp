// `fedarena epsilon`, `noise`, `privacy` and `verify` as a user and as a script meet them.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The settings of the first round of the FedLAP-DP paper.
const Words kFirstRound = {
    "epsilon", "--noise-multiplier", "1",      "--sampling-rate", "0.0256", "--steps", "200", "--delta",
    "1e-5",    "--orders",           "opacus", "--accountant",    "rdp"};

json json_of(const Scratch& scratch, const Words& words) {
  const Outcome outcome = run_program(scratch, words + Words{"--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return json::parse(outcome.out, nullptr, false);
}

TEST(EpsilonCommand, PrintsANumberThatAScriptCanRead) {
  const Scratch scratch;
  const Outcome outcome = run_program(scratch, kFirstRound);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "2.7866\n");
  EXPECT_THAT(outcome.err, HasSubstr("RDP at order 6"));
  EXPECT_THAT(outcome.err, HasSubstr("200 x Poisson-sampled Gaussian (rate 0.0256, noise multiplier 1)"));
}

// Figures of the paper, rounds 1, 2, 5, 10, 15, 17, 30.
TEST(EpsilonCommand, GivesThePublishedFigures) {
  const Scratch scratch;
  const std::vector<std::pair<int, std::string>> figures = {{1, "2.7866"},  {2, "3.6737"},   {5, "5.6577"},
                                                            {10, "8.1345"}, {15, "10.1830"}, {17, "10.9310"},
                                                            {30, "15.2325"}};
  for (const auto& [rounds, epsilon] : figures) {
    Words words = kFirstRound;
    words[6] = std::to_string(200 * rounds);
    EXPECT_EQ(run_program(scratch, words).out, epsilon + "\n");
  }
}

TEST(EpsilonCommand, GivesEveryDigitInJson) {
  const Scratch scratch;
  const json answer = json_of(scratch, kFirstRound);
  EXPECT_NEAR(answer["epsilon"].get<double>(), 2.7866439426422339, 1e-12);
  EXPECT_EQ(answer["accountant"], "rdp");
  EXPECT_EQ(answer["order"], 6);
  EXPECT_EQ(answer["delta"], 1e-5);
  EXPECT_EQ(answer["adjacency"], "add-remove");
  EXPECT_EQ(answer["sampling"], "poisson");
}

TEST(EpsilonCommand, TakesBatchesAndEpochsAsWell) {
  const Scratch scratch;
  const Words words = {"epsilon", "--noise-multiplier", "1",  "--batch-size", "256",  "--examples",
                       "10000",   "--epochs",           "5",  "--delta",      "1e-5", "--orders",
                       "opacus",  "--accountant",       "rdp"};
  EXPECT_EQ(run_program(scratch, words).out, "2.7866\n");
}

TEST(EpsilonCommand, ComposesWhatIsUnlike) {
  const Scratch scratch;
  const json answer =
      json_of(scratch, {"epsilon", "--noise-multiplier", "1", "--sampling-rate", "0.0256", "--steps", "1000",
                        "--and", "noise-multiplier=0.8,sampling-rate=0.0256,steps=500", "--delta", "1e-5",
                        "--orders", "opacus"});
  EXPECT_NEAR(answer["epsilon_rdp"].get<double>(), 8.8062944240996950, 1e-9);
  const double exact = 7.9559368932138878;
  EXPECT_GE(answer["epsilon_pld"].get<double>(), exact);
  EXPECT_LE(answer["epsilon_pld"].get<double>(), exact * 1.001);
  EXPECT_EQ(answer["epsilon"], answer["epsilon_pld"]) << "the smaller of two upper bounds";
}

TEST(EpsilonCommand, TurnsEpsilonIntoDelta) {
  const Scratch scratch;
  const json answer =
      json_of(scratch, {"epsilon", "--noise-multiplier", "1", "--sampling-rate", "0.0256", "--steps", "200",
                        "--at-epsilon", "3", "--orders", "opacus", "--accountant", "rdp"});
  EXPECT_NEAR(answer["delta"].get<double>() / 3.4411468629145360e-6, 1, 1e-9);
}

TEST(EpsilonCommand, IsInfiniteWithoutNoiseAndZeroWithoutAccess) {
  const Scratch scratch;
  const auto epsilon = [&](const std::string& noise, const std::string& rate, const std::string& delta) {
    return run_program(scratch, {"epsilon", "--noise-multiplier", noise, "--sampling-rate", rate, "--steps",
                                 "10", "--delta", delta, "--accountant", "rdp"})
        .out;
  };
  EXPECT_EQ(epsilon("0", "0.5", "1e-5"), "inf\n");
  EXPECT_EQ(epsilon("1", "0.5", "0"), "inf\n");
  EXPECT_EQ(epsilon("1", "0", "1e-5"), "0\n");
  EXPECT_EQ(epsilon("1", "0.5", "1"), "0\n");
}

TEST(NoiseCommand, IsTheInverseOfTheEpsilonCommand) {
  const Scratch scratch;
  const Words known = {"--sampling-rate", "0.0256", "--delta",  "1e-5",
                       "--accountant",    "rdp",    "--orders", "opacus"};
  const json noise = json_of(scratch, Words{"noise", "--epsilon", "8", "--steps", "200"} + known);
  EXPECT_NEAR(noise["noise_multiplier"].get<double>() / 0.658422859442, 1, 1e-8);
  const json epsilon = json_of(
      scratch,
      Words{"epsilon", "--steps", "200", "--noise-multiplier", noise["noise_multiplier"].dump()} + known);
  EXPECT_NEAR(epsilon["epsilon"].get<double>(), 8, 1e-8);
  EXPECT_LE(epsilon["epsilon"].get<double>(), 8);
}

TEST(NoiseCommand, SolvesForStepsAndForTheRate) {
  const Scratch scratch;
  const Words known = {"noise", "--epsilon",    "2.7867", "--delta",  "1e-5",  "--noise-multiplier",
                       "1",     "--accountant", "rdp",    "--orders", "opacus"};
  EXPECT_EQ(json_of(scratch, known + Words{"--sampling-rate", "0.0256"})["steps"], 200);
  EXPECT_NEAR(json_of(scratch, known + Words{"--steps", "200"})["sampling_rate"].get<double>(), 0.0256, 1e-5);
}

TEST(AccountingCommands, RefuseWhatMeansNothing) {
  const Scratch scratch;
  const Words one = {"epsilon", "--noise-multiplier", "1", "--steps", "10"};
  const Words sampled = one + Words{"--delta", "1e-5", "--sampling-rate"};
  expect_golden(
      "bad_accounting.txt",
      refusals(scratch,
               {{"epsilon"},
                one,
                one + Words{"--delta", "-1"},
                one + Words{"--delta", "nan"},
                one + Words{"--delta", "abc"},
                one + Words{"--delta", "1e-5", "--at-epsilon", "1"},
                sampled + Words{"1.5"},
                sampled + Words{"0.1", "--batch-size", "5", "--examples", "10"},
                sampled + Words{"0.1", "--epochs", "2"},
                sampled + Words{"0.1", "--orders", "opakus"},
                sampled + Words{"0.1", "--accountant", "gaussian"},
                sampled + Words{"0.1", "--sampling", "without-replacement", "--adjacency", "add-remove"},
                sampled + Words{"0.1", "--and", "noise=2,steps=3"},
                sampled + Words{"0.1", "--and", "noise-multiplier=2"},
                sampled + Words{"0.1", "--and", "noise-multiplier=2,steps=3,adjacency=replace-one"},
                sampled + Words{"0.1", "--dimension", "3"},
                {"epsilon", "--noise-multiplier", "1", "--steps", "2.5", "--delta", "1e-5"},
                {"epsilon", "--noise-multipler", "1"},
                {"epsilon", "--batch-size", "20", "--examples", "10", "--noise-multiplier", "1", "--steps",
                 "1", "--delta", "1e-5"},
                {"epsilon", "--mechanism", "laplace", "--steps", "1", "--delta", "0"},
                {"epsilon", "--ledger", "nowhere", "--delta", "1e-5"},
                {"noise", "--delta", "1e-5"},
                {"noise", "--epsilon", "1", "--delta", "1e-5"},
                {"noise", "--epsilon", "1", "--delta", "1e-5", "--noise-multiplier", "1", "--steps", "5",
                 "--sampling-rate", "0.1"},
                {"noise", "--epsilon", "1", "--delta", "1e-5", "--noise-multiplier", "0.3", "--sampling-rate",
                 "0.5"},
                {"noise", "--epsilon", "1", "--delta", "1e-5", "--steps", "5", "--solve", "delta"},
                {"privacy"},
                {"privacy", "nowhere"},
                {"verify"},
                {"verify", "."}}));
}

TEST(PrivacyCommand, ExplainsARun) {
  const Scratch scratch;
  const results::RecordedRun run(scratch / "run", {.accesses = [](std::int64_t round, std::int64_t client) {
                                   RoundAccesses accesses = results::private_steps(10, round < 3 ? 1.0 : 1.5);
                                   if (client == 1 && round == 3) accesses.add(ExactAccess{"gradient"});
                                   return accesses;
                                 }});
  std::string text;
  for (const Words& words :
       {Words{"privacy", "run"}, Words{"epsilon", "--ledger", "run/ledger.json", "--client", "0", "--delta",
                                       "1e-5", "--orders", "opacus"}}) {
    const Outcome outcome = run_program(scratch, words);
    EXPECT_EQ(outcome.exit_code, 0);
    text += transcript(scratch, words, outcome);
  }
  expect_golden("privacy.txt", text);
}

TEST(VerifyCommand, CountsWhatItRecomputedAndFailsOnADifference) {
  const Scratch scratch;
  const results::RecordedRun first(scratch / "runs/dp-fedavg-seed-1", {});
  const results::RecordedRun second(scratch / "runs/dp-fedavg-seed-2", {.seed = 2});
  const Outcome good = run_program(scratch, {"verify", "runs"});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, testing::MatchesRegex("verified: 2 runs, [0-9]+ values, 0 differences\n"));
  first.edit(results::kSummaryFile, "\"final_test_accuracy\": 0.75", "\"final_test_accuracy\": 0.85");
  const Outcome bad = run_program(scratch, {"verify", "runs"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.out, HasSubstr("differs: runs/dp-fedavg-seed-1/summary.json: final_test_accuracy is 0.85; "
                                 "recomputed: 0.75\n"));
  EXPECT_THAT(bad.err, HasSubstr("fedarena: the records hold "));
}

TEST(VerifyCommand, SaysOnceWhatManyRunsShare) {
  const Scratch scratch;
  const std::string shared = "policy none, which claims no epsilon, and none is recorded\n";
  const results::RecordedRun first(scratch / "runs/fedavg-seed-1", {.policy = "none", .label = "fedavg"});
  const Outcome one = run_program(scratch, {"verify", "runs"});
  EXPECT_THAT(one.out, testing::StartsWith("note: runs/fedavg-seed-1: " + shared));
  const results::RecordedRun second(scratch / "runs/fedavg-seed-2",
                                    {.policy = "none", .label = "fedavg", .seed = 2});
  const Outcome two = run_program(scratch, {"verify", "runs"});
  EXPECT_THAT(two.out, testing::StartsWith("note: 2 runs, runs/fedavg-seed-1 the first: " + shared +
                                           "verified: 2 runs, "));
}

}  // namespace
}  // namespace fedarena::test
