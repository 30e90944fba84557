// Rounds under the policy "label": what algorithms see of labels, and what their release costs.
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "fedarena/accounting/account.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// Every client's examples in one round, as its oracle showed them.
struct Shown {
  std::map<std::int64_t, Batch> of;
  /// By the example's first number, which no two have in common.
  std::map<double, std::int64_t> labels() const {
    std::map<double, std::int64_t> result;
    for (const auto& [client, batch] : of) {
      for (std::int64_t i = 0; i < batch.size(); ++i)
        result[batch.inputs[i][0].item<double>()] = batch.targets[i].item<std::int64_t>();
    }
    return result;
  }
};

class LabelRuns : public PrivateRuns {
 protected:
  LabelRuns() {
    algorithm.on_train = [this](Client& client) { seen_.of[client.id] = client.oracle.exact_batch(); };
  }
  SimulationSetup setup(const LabelPolicy& policy, std::int64_t rounds = 4) const {
    return setup_on(pool, rounds, static_cast<std::int64_t>(partition.size()), policy);
  }
  Shown round_of(Simulation& simulation) {
    seen_ = {};
    simulation.next_round();
    return seen_;
  }
  std::map<double, std::int64_t> exact_labels() const {
    return Shown{{{0, {dataset.train.inputs, dataset.train.targets}}}}.labels();
  }

 private:
  Shown seen_;
};

// How many labels of one are others in the other.
std::int64_t changed(const std::map<double, std::int64_t>& left,
                     const std::map<double, std::int64_t>& right) {
  std::int64_t count = 0;
  for (const auto& [example, label] : left) count += label != right.at(example) ? 1 : 0;
  return count;
}

TEST_F(LabelRuns, ShowTheSameRandomisedLabelsInEveryRoundWhateverIsAsked) {
  std::map<std::int64_t, torch::Tensor> counts, classes;
  std::map<std::int64_t, double> losses;
  const Params zeros = Params::zeros(model.layout(), torch::kFloat64);
  const auto note = algorithm.on_train;
  algorithm.on_train = [&](Client& client) {
    note(client);
    counts[client.id] = client.oracle.label_counts();
    classes[client.id] = client.oracle.held_classes();
    losses[client.id] = client.oracle.loss(zeros);
  };
  Simulation simulation(setup(labels_hidden()));
  const Shown first = round_of(simulation), second = round_of(simulation);
  EXPECT_EQ(first.labels().size(), 60U);
  EXPECT_EQ(changed(first.labels(), second.labels()), 0);
  for (const auto& [client, batch] : second.of) {
    EXPECT_TRUE(torch::equal(counts[client], batch.targets.bincount({}, 2)));
    EXPECT_TRUE(torch::equal(classes[client], counts[client].nonzero().flatten()));
    EXPECT_DOUBLE_EQ(losses[client], model.loss(zeros, batch).item<double>());
  }
}

TEST_F(LabelRuns, TrainOnRandomisedLabels) {
  algorithm.steps = 1;
  algorithm.batch_size = 0;
  Simulation simulation(setup(labels_hidden()));
  const Params before = simulation.params();
  const Shown shown = round_of(simulation);
  Params expected = zeros_like(before);
  for (const auto& [client, batch] : shown.of) expected.add_scaled(-0.05 / 4, model.gradient(before, batch));
  EXPECT_LT(norm(simulation.params() - before - expected), 1e-12);
}

TEST_F(LabelRuns, ChargeEachLabelOnceHoweverOftenItIsSeen) {
  Simulation simulation(setup(labels_hidden()));
  const std::optional<double> first = simulation.next_round().epsilon;
  while (!simulation.finished()) EXPECT_EQ(simulation.next_round().epsilon, first);
  EXPECT_EQ(simulation.ledger().unit(), Unit::kLabel);
  const std::vector<Ledger::Segment> once{{1, 1, 1, {{RandomizedResponse{2, 1.2}, 1}}}};
  EXPECT_EQ(simulation.ledger().population(), once);
  for (const auto& [client, record] : simulation.ledger().clients()) {
    EXPECT_EQ(simulation.ledger().charged(client), once.front().accesses);
    EXPECT_EQ(Ledger::participations_of(record.segments), 4);
  }
}

// Two answers at odds of e^epsilon: delta(x) = s (1 - e^(x - epsilon)) with s = e^epsilon / (e^epsilon + 1).
TEST_F(LabelRuns, HaveTheEpsilonOfTheResponse) {
  BegunRun simulation(setup(labels_hidden()), 1);
  const double stays = 1 / (1 + std::exp(-1.2));
  for (const double delta : {1e-3, 1e-5, 1e-9}) {
    const Account account = fedarena::account(simulation.ledger(), {.delta = delta});
    const double exact = 1.2 + std::log1p(-delta / stays);
    EXPECT_NEAR(account.pld.epsilon.value(), exact, 1e-3 * exact);
    EXPECT_GE(account.pld.epsilon.value(), exact * (1 - 1e-12));
    EXPECT_LE(account.rdp.epsilon.value(), 1.2 * (1 + 1e-12));
    EXPECT_GE(account.rdp.epsilon.value(), exact * (1 - 1e-12));
  }
  EXPECT_NEAR(fedarena::account(simulation.ledger(), {.delta = 1e-12}).rdp.epsilon.value(), 1.2, 1e-9);
}

TEST_F(LabelRuns, ChargeNothingForThePlanThatIsLeft) {
  BegunRun simulation(setup(labels_hidden()), 1);
  const double made = *odometer_reading(simulation.ledger());
  simulation.charge_rest();
  EXPECT_EQ(odometer_reading(simulation.ledger()), made);
}

TEST_F(LabelRuns, TellExactLabelsToNobodyButTests) {
  SimulationSetup tested = setup(labels_hidden());
  tested.tests_tell_label_counts = true;
  EXPECT_EQ(Simulation(tested).next_round().epsilon, kInfinity);
  LabelPolicy declared = labels_hidden();
  declared.public_label_counts = true;
  tested.policy = declared;
  EXPECT_LE(*Simulation(tested).next_round().epsilon, 1.2 * (1 + 1e-12));
}

// Nothing of a personal model is sent.
TEST_F(LabelRuns, LeaveClientsTheirOwnExactLabels) {
  Shown kept;
  algorithm.on_personalise = [&](Client& client, const Message& downlink) {
    kept.of[client.id] = client.oracle.exact_batch();
    return downlink[kModel];
  };
  SimulationSetup tested = setup(labels_hidden(2));
  const Partition tests{{0, 1}, {2}, {3}, {4}};
  tested.client_tests = &tests;
  Simulation simulation(tested);
  EXPECT_LE(*simulation.next_round().epsilon, 1.2 * (1 + 1e-12));
  EXPECT_EQ(kept.labels(), exact_labels());
  EXPECT_EQ(simulation.ledger().clients().at(0).kept.front().accesses,
            (std::vector<Access>{{ExactAccess{"examples"}, 1}}));
}

TEST_F(LabelRuns, DrawLabelsOfEveryCellByTheirLaw) {
  std::set<std::map<double, std::int64_t>> different;
  for (const std::uint64_t cell : {1, 2, 3}) {
    SimulationSetup each = setup(labels_hidden());
    each.cell = cell;
    Simulation simulation(each);
    const auto labels = round_of(simulation).labels();
    const double flips = 1 / (1 + std::exp(1.2));
    const double count = static_cast<double>(changed(labels, exact_labels()));
    EXPECT_LT(std::abs(count - 60 * flips), kNormalBound * std::sqrt(60 * flips * (1 - flips)));
    different.insert(labels);
  }
  EXPECT_EQ(different.size(), 3U);
}

// Two stages.

TEST_F(LabelRuns, HoldOneFixedHalfInTheFirstStageAndAllInTheSecond) {
  Simulation simulation(setup(labels_hidden(2)));
  const Shown first = round_of(simulation), second = round_of(simulation), third = round_of(simulation),
              fourth = round_of(simulation);
  const std::map<std::int64_t, std::int64_t> halves{{0, 13}, {1, 5}, {2, 10}, {3, 3}};
  for (const auto& [client, size] : halves) EXPECT_EQ(first.of.at(client).size(), size);
  EXPECT_EQ(first.labels(), second.labels());
  EXPECT_EQ(third.labels().size(), 60U);
  EXPECT_EQ(third.labels(), fourth.labels());
  EXPECT_EQ(changed(first.labels(), third.labels()), 0);
}

TEST_F(LabelRuns, HalveAlikeUnderEveryNoise) {
  std::set<std::set<double>> halves;
  for (const std::uint64_t cell : {1, 2}) {
    SimulationSetup each = setup(labels_hidden(2));
    each.cell = cell;
    Simulation simulation(each);
    std::set<double> half;
    for (const auto& [example, label] : round_of(simulation).labels()) half.insert(example);
    halves.insert(half);
  }
  EXPECT_EQ(halves.size(), 1U);
}

// A model that is sure of a class leaves no other candidate.
TEST_F(LabelRuns, AnswerTheSecondHalfUnderWhatTheModelPredicts) {
  for (const std::int64_t sure_of : {0, 1}) {
    algorithm.on_aggregate = [&](Server& server, const Uplink& uplink) {
      server.params += uplink.mean(kUpdate);
      if (server.round != 2) return;
      server.params = zeros_like(server.params);
      server.params.flat()[server.params.flat().numel() - 2 + sure_of] = 500;  // a bias
    };
    Simulation simulation(setup(labels_hidden(2)));
    round_of(simulation);
    const auto first = round_of(simulation).labels(), all = round_of(simulation).labels();
    for (const auto& [example, label] : all) {
      if (first.contains(example)) {
        EXPECT_EQ(label, first.at(example));
      } else {
        EXPECT_EQ(label, sure_of);
      }
    }
  }
}

TEST_F(LabelRuns, ChargeTwoStagesAsOneReleaseOfTheWorstExample) {
  FinishedRun simulation(setup(labels_hidden(2)));
  EXPECT_EQ(simulation.ledger().charged(3), (std::vector<Access>{{RandomizedResponse{2, 1.2}, 1}}));
}

TEST_F(LabelRuns, KnowNothingByAModelThatDiverged) {
  algorithm.on_aggregate = [](Server& server, const Uplink&) { server.params.flat().fill_(kNan); };
  Simulation simulation(setup(labels_hidden(2)));
  round_of(simulation);
  round_of(simulation);
  algorithm.steps = 0;
  const auto labels = round_of(simulation).labels();
  EXPECT_GT(changed(labels, exact_labels()), 0);
  EXPECT_LT(changed(labels, exact_labels()), 45);
}

// What the system's generator drew, it draws only once.
TEST_F(LabelRuns, KeepLabelsThatNobodyCanDrawAgain) {
  const LabelPolicy policy = labels_hidden(2, kSystemNoise);
  Simulation one(setup(policy)), other(setup(policy));
  EXPECT_FALSE(one.repeatable());
  const auto first = round_of(one).labels();
  EXPECT_NE(round_of(other).labels(), first);
  other.restore(one.save());
  EXPECT_EQ(round_of(other).labels(), first);
  // They were drawn when the second round ended, and go into its checkpoint.
  one.restore(other.save());
  const auto both = round_of(one).labels();
  EXPECT_EQ(round_of(other).labels(), both);
}

// Labels that an attempt was answered with, and a crash lost, are drawn and charged again.
TEST_F(LabelRuns, ChargeALostRelease) {
  const LabelPolicy policy = labels_hidden(0, kSystemNoise);
  BegunRun lost(setup(policy), 1);
  Simulation again(setup(policy));
  again.charge_lost(lost.ledger());
  EXPECT_NEAR(again.next_round().epsilon.value(), 2.4, 0.05);
  EXPECT_NEAR(again.next_round().epsilon.value(), 2.4, 0.05);
}

// The second half was drawn when a round ended that the checkpoint does not have: nothing charges another
// draw.
TEST_F(LabelRuns, RefuseToDrawAgainWhatALaterRoundReleased) {
  const LabelPolicy policy = labels_hidden(2, kSystemNoise);
  Simulation lost(setup(policy)), again(setup(policy));
  lost.next_round();
  again.restore(lost.save());
  again.charge_lost(lost.ledger());  // of a crash that lost nothing
  lost.next_round();
  EXPECT_THAT(message_of([&] { again.charge_lost(lost.ledger()); }),
              HasSubstr("round 2, which a crash lost, released labels"));
  // Of a round that released none, nothing is lost.
  again.restore(lost.save());
  lost.next_round();
  EXPECT_NO_THROW(again.charge_lost(lost.ledger()));
}

TEST_F(LabelRuns, RefuseACheckpointWithoutTheirLabels) {
  BegunRun simulation(setup(labels_hidden()), 1);
  Checkpoint checkpoint = unpack_checkpoint(simulation.save(), model);
  ASSERT_EQ(checkpoint.labels.numel(), 60);
  const auto refusal = [&] { return message_of([&] { simulation.restore(pack_checkpoint(checkpoint)); }); };
  const torch::Tensor whole = checkpoint.labels.clone();
  for (const torch::Tensor& wrong : {whole.narrow(0, 0, 59), whole + 1, whole - 2, torch::Tensor()}) {
    checkpoint.labels = wrong;
    EXPECT_THAT(refusal(), HasSubstr("does not have the randomised labels of this run"));
  }
}

TEST_F(LabelRuns, LeaveNoTraceOfALastRoundOfAStageThatFails) {
  SimulationSetup failing = setup(labels_hidden(1));
  const Partition tests{{0}, {1}, {2}, {3}};
  failing.client_tests = &tests;
  bool fail = true;
  algorithm.on_personalise = [&](Client&, const Message& downlink) {
    if (fail) throw Error::of("a test that fails");
    return downlink[kModel];
  };
  Simulation simulation(failing);
  const Bytes before = simulation.save();
  EXPECT_THROW(simulation.next_round(), Error);
  EXPECT_EQ(simulation.save(), before);
  fail = false;
  EXPECT_EQ(round_of(simulation).labels().size(), 31U);
}

TEST_F(LabelRuns, AreRefusedBeforeTrainingWhereTheyCannotBe) {
  const auto refusal = [&](const SimulationSetup& refused) {
    return message_of([&] { Simulation{refused}; });
  };
  EXPECT_THAT(refusal(setup(labels_hidden(4))), HasSubstr("first_rounds is 4, and the run has 4 rounds"));
  partition.push_back({partition.back().back()});
  partition[3].pop_back();
  EXPECT_THAT(refusal(setup(labels_hidden(2))), HasSubstr("holds 1 example, which two stages cannot halve"));
  EXPECT_NO_THROW(Simulation{setup(labels_hidden())});
  SimulationSetup held_out = setup(labels_hidden(2));
  held_out.held_out = {4};
  held_out.cohort_size = 4;
  EXPECT_NO_THROW(Simulation{held_out});
  dataset.classes = 0;
  EXPECT_THAT(refusal(setup(labels_hidden())), HasSubstr("the data are a regression"));
}

TEST(LabelPolicy, RefusesWhatDoesNotFitTogether) {
  const auto refusal = [](const Settings& settings) {
    return message_of([&] { (void)make_policy("label", settings); });
  };
  EXPECT_THAT(refusal({{"epsilon", 65.0}}), HasSubstr("allowed: 0 < epsilon <= 64"));
  EXPECT_THAT(refusal({{"epsilon", 0.0}}), HasSubstr("a number > 0"));
  EXPECT_THAT(refusal({{"stages", std::int64_t{3}}}), HasSubstr("from 1 to 2"));
  EXPECT_THAT(refusal({{"stages", std::int64_t{2}}}), HasSubstr("two stages and at least 1"));
  EXPECT_THAT(refusal({{"first_rounds", std::int64_t{2}}}), HasSubstr("one stage and 0 first_rounds"));
  EXPECT_THAT(refusal({{"budget", 3.0}}), HasSubstr("randomised once, before the first round"));
}

}  // namespace
}  // namespace fedarena
