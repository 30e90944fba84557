// Exhibit 16b: a target epsilon in the configuration that the run ignores.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "harness/config/grid/grid.hpp"
#include "tests/museum/exhibits.hpp"
#include "tests/museum/recorded_run.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return message_of(
      [&] { read_experiment(config::parse_document(text, "museum.toml"), overrides, whole_catalog()); });
}

TEST(StatedEpsilon, CannotBeWritten) {
  for (const std::string line :
       {"epsilon = 10\n", "target_epsilon = 10\n", "noise_multiplier = 1\nepsilon = 10\n",
        "noise_multiplier = 1\ntarget_epsilon = 10\n"}) {
    const std::string own = experiment_text() + "[algorithms.privacy]\n" + line;
    for (const std::string& text : {experiment_text(line), own, experiment_text() + line}) {
      EXPECT_THAT(refusal_of(text), StartsWith("museum.toml:"));
      EXPECT_THAT(refusal_of(text), HasSubstr("unknown key")) << text;
    }
  }
  for (const std::string where : {"privacy", "experiment", "training", "algorithms.dp-fedprox.privacy"}) {
    EXPECT_THAT(refusal_of(experiment_text(), {where + ".epsilon=10"}),
                HasSubstr("the ledger computes epsilon; no file can state it"));
    EXPECT_THAT(refusal_of(experiment_text(), {where + ".target_epsilon=10"}), HasSubstr("unknown key"));
  }
}

// The shipped settings: 5,850 steps at rate 0.0256 under noise multiplier 1 are far beyond the target of 10.
TEST(StatedEpsilon, IsReplacedByThatOfTheLedger) {
  constexpr std::int64_t kExamples = 1'250, kBatch = 32, kStepsOfARound = 195, kRounds = 30;
  const Federation federation({kExamples});
  const Exhibit algorithm(sgd(5, kBatch));
  Simulation simulation(federation.setup(algorithm, RecordPolicy()));
  simulation.next_round();
  const Event step = simulation.ledger().charged(0).at(0).event;
  EXPECT_EQ(step, Event(SampledGaussian{Sampling::kPoisson, 0.0256, {1}, Adjacency::kAddRemove}));
  Ledger shipped(Unit::kRecord);
  shipped.add_client(0, kExamples);
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    shipped.record(round, 0, RoundAccesses({{step, kStepsOfARound}}));
  }
  EXPECT_EQ(shipped.charged(0).at(0).count, 5'850);
  const Account claimed = account(shipped, {.delta = 1e-5, .orders = "opacus"});
  EXPECT_NEAR(claimed.rdp.epsilon.value(), 15.0, 0.05);
  EXPECT_GT(claimed.pld.epsilon.value(), 13.8);
}

// What a target was meant to be: the run ends before the round that would exceed it.
TEST(Budgets, AreKeptWhateverTheNoise) {
  RecordPolicy policy;
  policy.budget = 10;
  const Federation federation({40});
  const Exhibit algorithm(sgd(10, 4));
  Simulation simulation(federation.setup(algorithm, policy, 30));
  double last = 0;
  EXPECT_THROW(while (!simulation.finished()) last = simulation.next_round().epsilon.value(), BudgetSpent);
  const std::int64_t rounds = simulation.rounds_done();
  EXPECT_LE(last, 10);
  EXPECT_LE(poisson_epsilon(1, 0.1, 10 * rounds), 10);
  EXPECT_GT(poisson_epsilon(1, 0.1, 10 * (rounds + 1)), 10);
}

}  // namespace
}  // namespace fedarena
