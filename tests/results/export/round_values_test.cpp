#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "fedarena/base/text.hpp"

#include "results/export/exported_runs.hpp"
#include "results/text/number_format.hpp"
#include "tests/matchers.hpp"
#include "tests/results/export/sample_run.hpp"
#include "tests/results/record/attack_sample.hpp"

namespace fedarena::results {
namespace {

using ::testing::Key;
using ::testing::Pair;

using Texts = std::map<std::string, std::string>;

Texts texts(const ExportedRun& run, const RoundRecord& round, const Measures& measures = {}) {
  Texts found;
  for (const RoundValue& value : round_values(run, round, measures)) {
    EXPECT_TRUE(found.emplace(value.name, value.text).second) << value.name << " occurs twice";
  }
  return found;
}

// Every field that a record can have.
RoundRecord full_record() {
  RoundRecord round = round_record(2);
  round.classes = ClassMetrics{.accuracy = {0.5, std::nullopt, 1.0}, .macro_f1 = 0.7};
  round.validation_loss = 0.375;
  round.validation_accuracy = 0.625;
  round.per_client = ClientMetrics{
      .tested = 9, .accuracy_mean = 0.6, .accuracy_worst = 0.1, .accuracy_std = 0.2, .macro_f1_mean = 0.55};
  round.cost = Cost{.gradients = 700, .operations = 9007199254740993, .at_least = true};
  round.epsilon = 2.78664;
  return round;
}

TEST(RoundValues, HoldEveryNumberOfARound) {
  ExportedRun run = private_run();
  run.summary.privacy->adjacency = "replace-one";
  EXPECT_THAT(
      texts(run, full_record()),
      ElementsAre(Pair("class_accuracy_0", "0.5"), Pair("class_accuracy_2", "1"),
                  Pair("client_accuracy_mean", "0.6"), Pair("client_accuracy_std", "0.2"),
                  Pair("client_accuracy_worst", "0.1"), Pair("client_macro_f1_mean", "0.55"),
                  Pair("clients", "10"), Pair("clients_diverged", "0"), Pair("clients_tested", "9"),
                  Pair("downlink_bytes", "81920"), Pair("epsilon_pld", "2.5"), Pair("epsilon_rdp", "2.78664"),
                  Pair("evaluation_seconds", "0.125"), Pair("examples", "640"), Pair("gradients", "700"),
                  Pair("macro_f1", "0.7"), Pair("operations", "9007199254740993"),
                  Pair("operations_at_least", "1"), Pair("test_accuracy", "0.75"), Pair("test_loss", "0.25"),
                  Pair("train_seconds", "1.5"), Pair("uplink_bytes", "40960"),
                  Pair("validation_accuracy", "0.625"), Pair("validation_loss", "0.375")));
}

TEST(RoundValues, KeepSizesOfSecretSamplesBack) {
  ExportedRun run = private_run();
  const auto names = [&] {
    std::set<std::string> found;
    for (const RoundValue& value : round_values(run, full_record())) found.insert(value.name);
    return found;
  };
  Summary& summary = run.summary;
  summary.privacy->adjacency = "replace-one";
  std::set<std::string> all = names();
  for (const char* counts :
       {"examples", "gradients", "operations", "operations_at_least", "train_seconds", "evaluation_seconds"})
    EXPECT_EQ(all.erase(counts), 1U);
  summary.privacy->adjacency = "zero-out";
  EXPECT_EQ(names(), all);
  // Those of cohorts are drawn under the policy "client"; nobody has asked yet how.
  summary.privacy->unit = "client";
  summary.privacy->adjacency.clear();
  summary.privacy->rdp = summary.privacy->pld = std::nullopt;
  for (const char* counts : {"clients", "uplink_bytes", "downlink_bytes"}) EXPECT_EQ(all.erase(counts), 1U);
  for (const char* claimed : {"epsilon_rdp", "epsilon_pld"}) all.erase(claimed);
  EXPECT_EQ(names(), all);
}

TEST(RoundValues, AreListedAndOfAGroup) {
  const std::vector<std::string> listed = exported_measures();
  EXPECT_EQ(std::set(listed.begin(), listed.end()).size(), listed.size());
  ExportedRun run = private_run();
  run.attacks = sample_attacks("");
  for (const RoundValue& value : round_values(run, full_record())) {
    EXPECT_THAT(listed, Contains(value.measure));
    EXPECT_FALSE(value.group.empty()) << value.name;
    EXPECT_TRUE(value.name.starts_with(value.measure));
  }
}

TEST(RoundValues, LeaveOutWhatTheRecordLacks) {
  const ExportedRun run = sample_run();
  EXPECT_THAT(texts(run, run.rounds[0]),
              ElementsAre(Key("clients"), Key("downlink_bytes"), Key("evaluation_seconds"), Key("examples"),
                          Key("gradients"), Key("operations"), Key("operations_at_least"),
                          Key("train_seconds"), Key("uplink_bytes")));
}

TEST(RoundValues, HoldTheErrorOfARegressionAndNoAccuracy) {
  RoundRecord round = round_record(1);
  round.test_accuracy = std::nullopt;
  round.test_loss = 2;
  const Texts found = texts(sample_run(), round);
  EXPECT_THAT(found, Contains(Pair("rmse", "2")));
  EXPECT_THAT(found, Not(Contains(Key("test_accuracy"))));
  EXPECT_THAT(texts(sample_run(), round_record(1)), Not(Contains(Key("rmse"))));
}

TEST(RoundValues, HaveTheEpsilonsOfTheEndOnlyThere) {
  ExportedRun run = private_run();
  run.summary.privacy->as_if_rdp = Claim{.epsilon = INFINITY};
  run.summary.privacy->as_if_pld = unproven("nobody knows");
  EXPECT_THAT(texts(run, run.rounds[0]), Not(Contains(Key("epsilon_pld"))));
  const Texts last = texts(run, run.rounds[1]);
  EXPECT_THAT(last, Contains(Pair("epsilon_pld", "2.5")));
  EXPECT_THAT(last, Contains(Pair("as_if_epsilon_rdp", "inf")));
  EXPECT_THAT(last, Not(Contains(Key("as_if_epsilon_pld"))));
  run.summary.state = kRunning;
  EXPECT_THAT(texts(run, run.rounds[1]), Not(Contains(Key("epsilon_pld"))));
}

// A plan that data ended early is charged in full, which no round knows.
TEST(RoundValues, HaveTheClaimAtTheEnd) {
  ExportedRun run = private_run();
  run.summary.privacy->rdp = Claim{.epsilon = 8.5};
  EXPECT_THAT(texts(run, run.rounds[0]), Contains(Pair("epsilon_rdp", "1.5")));
  EXPECT_THAT(texts(run, run.rounds[1]), Contains(Pair("epsilon_rdp", "8.5")));
  run.summary.privacy->rdp = unproven("nobody knows");
  EXPECT_THAT(texts(run, run.rounds[1]), Not(Contains(Key("epsilon_rdp"))));
  run.summary.state = kRunning;
  EXPECT_THAT(texts(run, run.rounds[1]), Contains(Pair("epsilon_rdp", "2.78664")));
}

TEST(RoundValues, HaveWhatAttacksMeasuredAfterTheLastRoundAlone) {
  ExportedRun run = sample_run();
  run.attacks = sample_attacks("");
  EXPECT_THAT(texts(run, run.rounds[0]), Not(Contains(Key("attack_auc_loss"))));
  const Separation& loss = run.attacks->attacks[0].separation;
  const Texts last = texts(run, run.rounds[1]);
  EXPECT_THAT(last, Contains(Pair("attack_auc_loss", exact_number(loss.auc))));
  EXPECT_THAT(last, Contains(Pair("attack_advantage_loss", exact_number(loss.advantage))));
  EXPECT_THAT(last, Contains(Key("attack_tpr_at_1_percent_rmia")));
  EXPECT_THAT(texts(run, run.rounds[1], {"attack_auc"}),
              ElementsAre(Key("attack_auc_loss"), Key("attack_auc_rmia")));
}

TEST(RoundValues, ReadBackToTheSameDouble) {
  RoundRecord round = round_record(1);
  for (const double number :
       {0.1 + 0.2, 1.0 / 3, 5e-324, std::numeric_limits<double>::max(), 1e22, 123456.789}) {
    round.test_loss = number;
    const std::string text = texts(sample_run(), round).at("test_loss");
    EXPECT_EQ(parse_number<double>(text), number) << text;
  }
}

TEST(RoundValues, AreThoseThatAreWanted) {
  EXPECT_THAT(texts(private_run(), full_record(), {"class_accuracy", "clients"}),
              ElementsAre(Key("class_accuracy_0"), Key("class_accuracy_2"), Key("clients")));
}

}  // namespace
}  // namespace fedarena::results
