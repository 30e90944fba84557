// Runs that audit themselves by canaries. Seeds are fixed.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fedarena/accounting/account.hpp"

#include "results/record/canary_audit.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using results::audit_of;
using results::CanaryAudit;
using results::CanaryScores;

class AuditedRuns : public PrivateRuns {
 protected:
  AuditedRuns() {
    model = Model({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 200}, Relu{}, Linear{200, 2}}},
                  torch::kFloat32);
  }

  SimulationSetup audited_on(const WorkPool& workers, const CanaryPlan& canaries, const PrivacyPolicy& policy,
                             std::int64_t rounds = 6) const {
    SimulationSetup setup = setup_on(workers, rounds, 2, policy);
    setup.canaries = canaries;
    return setup;
  }
  SimulationSetup audited(const CanaryPlan& canaries, const PrivacyPolicy& policy,
                          std::int64_t rounds = 6) const {
    return audited_on(pool, canaries, policy, rounds);
  }

  static CanaryAudit outcome(const Simulation& simulation, std::int64_t guesses) {
    const CanaryScores scores{.kind = simulation.canaries().plan().kind,
                              .guesses = guesses,
                              .control = simulation.canaries().plan().control,
                              .scores = simulation.canary_scores(),
                              .in = simulation.canaries().in()};
    return audit_of(scores, {.unit = "record", .settings = {.delta = 1e-5}});
  }

  static Simulation& finish(Simulation& simulation) {
    while (!simulation.finished()) simulation.next_round();
    return simulation;
  }
};

TEST_F(AuditedRuns, ScoreTheSameBitsForAnyNumberOfWorkersAndAfterARestart) {
  const CanaryPlan plan{kGradientCanaries, 100};
  const WorkPool one{1, use_one_torch_thread}, three{3, use_one_torch_thread};
  Simulation simulation(audited_on(one, plan, records_hidden()));
  finish(simulation);
  BegunRun other(audited_on(three, plan, records_hidden()), 3);
  ResumedRun resumed(audited_on(three, plan, records_hidden()), other);
  EXPECT_EQ(resumed.canary_scores(), other.canary_scores());
  finish(resumed);
  EXPECT_EQ(resumed.canary_scores(), simulation.canary_scores());
  EXPECT_TRUE(torch::equal(resumed.params().flat(), simulation.params().flat()));
  EXPECT_GT(std::ranges::count_if(simulation.canary_scores(), [](double score) { return score != 0; }), 50);
}

TEST_F(AuditedRuns, RefuseACheckpointOfOtherCanaries) {
  BegunRun simulation(audited({kGradientCanaries, 100}, records_hidden()), 1);
  const Bytes saved = simulation.save();
  for (const CanaryPlan& plan : {CanaryPlan{kGradientCanaries, 99}, CanaryPlan{}}) {
    Simulation other(audited(plan, records_hidden()));
    expect_refused("the checkpoint has scores of 100 canaries", [&] { other.restore(saved); });
  }
}

TEST_F(AuditedRuns, ChangeNeitherLedgerNorNoiseNorExamples) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(clients_hidden())}) {
    const bool records = unit(policy) == Unit::kRecord;
    Simulation with(audited({records ? kGradientCanaries : kClientCanaries, 40}, policy));
    Simulation without(audited({}, policy));
    const auto record = with.next_round(), plain = without.next_round();
    EXPECT_EQ(with.ledger(), without.ledger());
    EXPECT_EQ(record.examples, plain.examples);
    EXPECT_EQ(record.epsilon, plain.epsilon);
  }
}

// Answers about whole shards without noise hide nothing.
TEST_F(AuditedRuns, FindOutEveryCanaryWithoutNoise) {
  algorithm.batch_size = 0;
  SimulationSetup setup = audited({kGradientCanaries, 200, true}, records_hidden());
  setup.cohort_size = 4;
  Simulation simulation(setup);
  const CanaryAudit audit = outcome(finish(simulation), 100);
  EXPECT_EQ(audit.right, 100);
  EXPECT_NEAR(audit.lower_bound, 3.49, 0.01);
  EXPECT_TRUE(audit.control);
}

TEST_F(AuditedRuns, ClaimAnInfiniteEpsilonWithoutNoise) {
  for (const PrivacyPolicy& policy : {PrivacyPolicy(records_hidden()), PrivacyPolicy(clients_hidden())}) {
    const bool records = unit(policy) == Unit::kRecord;
    Simulation simulation(audited({records ? kGradientCanaries : kClientCanaries, 20, true}, policy));
    EXPECT_TRUE(std::isinf(simulation.next_round().epsilon.value()));
    // Also by PLD, which a small rate might satisfy.
    EXPECT_TRUE(std::isinf(account(simulation.ledger(), {.delta = 0.4}).pld.epsilon.value()));
  }
}

// Noise so large that epsilon is small leaves a coin's chance: of 100 guesses more than 74 are right with
// probability 1e-6.
TEST_F(AuditedRuns, FindOutNothingUnderMuchNoise) {
  RecordPolicy policy = records_hidden();
  policy.noise_multiplier = 200;
  Simulation simulation(audited({kGradientCanaries, 200}, policy));
  const CanaryAudit audit = outcome(finish(simulation), 100);
  EXPECT_LE(audit.right, 74);
  EXPECT_GE(audit.right, 26);
}

TEST_F(AuditedRuns, LearnWrongLabelsOfCanariesThatAreInAlone) {
  RecordPolicy policy = records_hidden();
  policy.clip_norm = 100;
  algorithm.batch_size = 0;
  algorithm.steps = 40;
  Simulation simulation(audited({kMislabelledCanaries, 24, true}, policy, 20));
  const std::vector<double> scores = finish(simulation).canary_scores();
  double in = 0, out = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool is_in = simulation.canaries().in()[i];
    const auto count = static_cast<double>(std::ranges::count(simulation.canaries().in(), is_in));
    (is_in ? in : out) += scores[i] / count;
  }
  EXPECT_GT(in, out + 0.3);
}

TEST_F(AuditedRuns, ScoreWrongLabelsByTheLossThatTheyLost) {
  Simulation simulation(audited({kMislabelledCanaries, 24}, records_hidden(), 2));
  for (const double score : simulation.canary_scores()) EXPECT_EQ(score, 0);  // nothing was trained
  finish(simulation);
  const Canaries& canaries = simulation.canaries();
  const Examples examples = canaries.apply(dataset.train);
  Stream weights({.seed = 4, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
  const Params start = model.initial(weights);
  const GradientEngine engine(model, pool);
  for (std::size_t i = 0; i < 24; ++i) {
    const auto loss = [&](const Params& at) {
      return engine
          .evaluate(at, 1,
                    [&](std::int64_t, std::int64_t) {
                      const std::int64_t place = canaries.places()[i];
                      return Batch{examples.inputs.slice(0, place, place + 1).to(torch::kFloat32),
                                   examples.targets.slice(0, place, place + 1)};
                    })
          .loss_sum;
    };
    EXPECT_NEAR(simulation.canary_scores()[i], loss(start) - loss(simulation.params()), 1e-6);
  }
}

// Directions in 1,002 dimensions are nearly orthogonal; one that was added stands out.
TEST_F(AuditedRuns, FindClientsInTheChangeOfTheModel) {
  Simulation simulation(audited({kClientCanaries, 20, true}, clients_hidden(), 40));
  const std::vector<double> scores = finish(simulation).canary_scores();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(scores[i] > 0.1, simulation.canaries().in()[i]) << scores[i];
    EXPECT_LE(std::abs(scores[i]), 1);
  }
}

}  // namespace
}  // namespace fedarena
