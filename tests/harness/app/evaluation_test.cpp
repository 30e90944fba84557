// What models learn, validation examples, tests of each client, and rules that stop a run, through the
// program.
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "results/record/run_directory.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

double final_accuracy(const Scratch& scratch, const SmallExperiment& experiment, const Start& start = {}) {
  experiment.write_to(scratch);
  succeed(scratch, "run small.toml --out out", start);
  return summary_of(scratch / "out/fedavg-seed-1").final_test_accuracy.value_or(0);
}

// One client with all examples: federated averaging is then plain SGD.
const std::string kCentral = "kind = \"iid\"\nclients = 1";

using Data = ScratchTest;

TEST_F(Data, GlyphsAreTooHardForALinearClassifier) {
  const double accuracy =
      final_accuracy(scratch, {.rounds = 10,
                               .partition = kCentral,
                               .evaluate_every = 10,
                               .training = "local_epochs = 1\nbatch_size = 64\nrate = 0.02"});
  EXPECT_GT(accuracy, 0.60);
  EXPECT_LT(accuracy, 0.92);
}

// A narrower network than the documented one, so that its accuracy is a lower bound in a fraction of the
// time.
TEST_F(Data, GlyphsAreEasyForAConvNet) {
  const double accuracy =
      final_accuracy(scratch, {.rounds = 1,
                               .partition = kCentral,
                               .model = "name = \"convnet\"\nwidth = 16",
                               .training = "local_epochs = 1\nbatch_size = 64\nrate = 0.1\nmomentum = 0.9"});
  EXPECT_GT(accuracy, 0.97);
}

TEST_F(Data, MnistIsLearntFromThePublishedFiles) {
  const fs::path data = published_data();
  if (data.empty()) return;
  const double accuracy =
      final_accuracy(scratch, {.data = "mnist", .training = "local_steps = 20\nbatch_size = 16\nrate = 0.05"},
                     {.environment = {{"FEDARENA_DATA", data.string()}}});
  EXPECT_GT(accuracy, 0.60);
  EXPECT_LT(accuracy, 0.95);
}

using Evaluation = ScratchTest;

// Two classes a client: a model of its own that is tuned on them beats the one for all, on new clients as
// well.
TEST_F(Evaluation, TestsClientsWithModelsOfTheirOwn) {
  run_small(scratch, {.rounds = 3,
                      .partition = "kind = \"shards\"\nclients = 5",
                      .evaluate_every = 2,
                      .evaluation = "per_client = true\nheld_out_clients = 0.4",
                      .algorithms = {"fedavg", "fine-tune"}});
  const results::Summary shared = summary_of(scratch / "out/fedavg-seed-1");
  const results::Summary own = summary_of(scratch / "out/fine-tune-seed-1");
  EXPECT_FALSE(shared.personal);
  EXPECT_TRUE(own.personal);
  EXPECT_EQ(own.per_client->tested, 3);
  EXPECT_EQ(own.final_test_accuracy, shared.final_test_accuracy);
  EXPECT_GT(own.per_client->accuracy_mean, shared.per_client->accuracy_mean);
  const auto validation = [&](const char* run) {
    return *rounds_of(scratch / run).back().validation_accuracy;
  };
  EXPECT_GT(validation("out/fine-tune-seed-1"), validation("out/fedavg-seed-1"));
  succeed("verify out");
  const std::string table = call("table out").out;
  EXPECT_THAT(table, HasSubstr("2 of 5 clients never train"));
  EXPECT_THAT(table, HasSubstr("made from their examples: fine-tune"));
  EXPECT_THAT(call("privacy out/fine-tune-seed-1").out,
              HasSubstr("looked at their examples for models of their own"));

  const fs::path file = scratch / "out/fine-tune-seed-1/ledger.json";
  nlohmann::json ledger = nlohmann::json::parse(content_of(file));
  for (nlohmann::json& client : ledger["clients"]) client.erase("kept");
  scratch.write(file, ledger.dump(1) + "\n");
  EXPECT_THAT(call("verify out/fine-tune-seed-1").out, HasSubstr("kept rounds of client "));
}

TEST_F(Evaluation, TestsClientsAndHoldsExamplesOut) {
  const Outcome outcome =
      run_small(scratch, {.partition = "kind = \"classes\"\nclients = 5"},
                "--set evaluation.per_client=true --set evaluation.validation_fraction=0.25");
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

  EXPECT_THAT(succeed("table runs/small").out,
              HasSubstr("| clients (%) | worst client (%) | BMTA (%) | BMT-F1 (%) |"));
  succeed("verify runs/small");
}

// Tests that are cut by how many examples of each class a client holds tell just that.
TEST_F(Evaluation, OfClientsByClassLeavesNoPrivacyUnlessTheirCountsArePublic) {
  const auto entry = [](const std::string& label, const std::string& more) {
    return "\n[[algorithms]]\nname = \"fedavg\"\nlabel = \"" + label +
           "\"\n[algorithms.privacy]\npolicy = \"record\"\nnoise_multiplier = 2.0\n" + more;
  };
  const Outcome run =
      run_small(scratch, {.rounds = 1,
                          .partition = "kind = \"dirichlet\"\nalpha = 0.5\nclients = 4",
                          .evaluation = "per_client = true",
                          .algorithms = {},
                          .more = entry("secret", "") + entry("public", "public_label_counts = true\n")});
  EXPECT_THAT(run.err, AllOf(HasSubstr("note: secret: epsilon will be infinite, because tests of clients"),
                             Not(HasSubstr("public: epsilon will"))));
  const std::string table = succeed("table out").out;
  EXPECT_THAT(table, ContainsRegex("\n\\| secret .* inf \\| +inf \\| 1e-5 "));
  EXPECT_THAT(table, ContainsRegex("\n\\| public .* 0\\.[0-9]+ \\| +0\\.[0-9]+ \\| 1e-5 "));
  EXPECT_THAT(table,
              HasSubstr("- secret: nothing is protected, because of an exact access (fedavg: label counts"));
}

TEST_F(Evaluation, ARuleEndsARunWhichResumeLeavesAlone) {
  const std::string options =
      "--set evaluation.validation_fraction=0.1 --set stopping.patience=1 --set stopping.improvement=0.9";
  run_small(scratch, {.rounds = 9}, options);
  // Nothing improves by 90 points after the first round.
  const auto run = scratch / "runs/small/fedavg-seed-1";
  EXPECT_EQ(summary_of(run).state, results::kFinished);
  EXPECT_EQ(summary_of(run).stopped, "patience");
  EXPECT_EQ(summary_of(run).rounds_done, 2);
  EXPECT_THAT(succeed("run small.toml --resume " + options).err, HasSubstr("(finished before)"));
  EXPECT_THAT(call("table runs/small").out,
              HasSubstr("stopped without a better validation score: fedavg, seed 1 (round 2 of 9)"));
  succeed("verify runs/small");
}

// It was evaluated when nobody had planned it, and a rule that saw it would end a resumed run otherwise.
TEST_F(Evaluation, ARuleDoesNotSeeTheRoundThatABudgetMadeTheLast) {
  const std::string options =
      "--set evaluation.validation_fraction=0.1 --set stopping.patience=1 --set stopping.improvement=0.9 "
      "--set privacy.policy=record --set privacy.noise_multiplier=0.7 --set privacy.budget=2.28";
  run_small(scratch, {.rounds = 12, .evaluate_every = 5}, options);
  const auto run = scratch / "runs/small/fedavg-seed-1";
  const results::Summary before = summary_of(run);
  EXPECT_EQ(before.rounds_done, 8);
  unfinish(run);
  succeed("run small.toml --resume " + options);
  EXPECT_EQ(summary_of(run).stopped, "");
  EXPECT_EQ(summary_of(run).privacy, before.privacy);
  succeed("verify runs/small");
}

}  // namespace
}  // namespace fedarena::test
