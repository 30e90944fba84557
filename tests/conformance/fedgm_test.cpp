// FedGM against its loop by hand, the examples that it chooses, and the two halves of its label privacy.
#include <string>

#include "fedarena/accounting/metric.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "tests/conformance/condensation.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

Settings little_fedgm(const Settings& more) {
  return joined({{"initialisations", 2},
                 {"outer_steps", 2},
                 {"image_init", "noise"},
                 {"image_encoding", "float32"},
                 {"images_per_class", 2}},
                more);
}

class FedGm : public Condensing {
 protected:
  Batch train(const Settings& settings) { return Condensing::train("fedgm", little_fedgm(settings)); }
};

// A class of no more examples than a batch holds is compared as a whole, whichever examples are asked for.
TEST_F(FedGm, MatchesTheGradientsOfEachClassAlongTheWayOfEachModel) {
  constexpr double kImageRate = 0.05, kRate = 0.1;
  const Batch set = CondensationByHand{kImageRate, kRate}.set_for(examples, bench.model);
  for (const char* real_images : {"representative", "random"}) {
    const Batch reached =
        train({{"real_images", real_images}, {"batch_size", 3}, {"image_rate", kImageRate}, {"rate", kRate}});
    EXPECT_TRUE(reached.targets.equal(set.targets));
    EXPECT_LE(largest_difference(reached.inputs, set.inputs), 1e-7) << real_images;
  }
}

TEST_F(FedGm, ObservesEachTenthOfTheWay) {
  train({{"initialisations", 5}, {"outer_steps", 2}});
  double sum = 0;
  for (int tenth = 1; tenth <= 10; ++tenth)
    sum += bench.observed_mean("matching-loss-" + std::to_string(tenth));
  EXPECT_NEAR(bench.observed_mean("matching-loss"), sum / 10, 1e-12);
  EXPECT_NE(bench.observed_mean("matching-loss-1"), bench.observed_mean("matching-loss-2"));
}

TEST_F(FedGm, ClustersAnewEverySoManyPointsAndForEachModel) {
  const auto images = [&](std::int64_t cluster_every) {
    return train({{"batch_size", 2},
                  {"cluster_every", cluster_every},
                  {"outer_steps", 4},
                  {"initialisations", 4},
                  {"image_rate", 5.0},
                  {"rate", 5.0}})
        .inputs;
  };
  EXPECT_TRUE(images(4).equal(images(9)));
  EXPECT_FALSE(images(4).equal(images(2)));
}

// The features of this model are its inputs. Those of the one class lie around 1 and around 101.
TEST(FedGmExamples, AreThoseInTheMiddleOfTheirClusters) {
  const Workbench bench({.input_shape = {1, 1, 2}, .outputs = 2, .layers = {Flatten{}, Linear{2, 2}}});
  const torch::Tensor examples =
      torch::tensor({0.0, 1.0, 2.0, 100.0, 101.0, 102.0, 102.0, 100.0}, torch::kFloat64)
          .unsqueeze(1)
          .expand({8, 2})
          .reshape({8, 1, 1, 2});
  OpenShard shard(bench.model, {examples, torch::ones({8}, torch::kInt64)});
  const Message sent = bench.train(*plugins().create("fedgm", little_fedgm({{"initialisations", 1},
                                                                            {"outer_steps", 1},
                                                                            {"criterion", "squared"},
                                                                            {"batch_size", 2}})),
                                   shard, {});
  const Streams streams = Workbench::client_streams();
  Stream noise = streams(Purpose::kSynthetic), weights = streams(Purpose::kSynthetic, 1);
  const Batch start{normal(noise, {2, 1, 1, 2}), torch::ones({2}, torch::kInt64)};
  const Params model = bench.model.initial(weights);
  const Batch middle{examples.index_select(0, torch::tensor({1, 4}, torch::kInt64)), start.targets};
  const double distance = matching_distance(bench.model.gradient(model, start),
                                            bench.model.gradient(model, middle), {.criterion = "squared"})
                              .value;
  EXPECT_NEAR(bench.observed_mean("matching-loss"), distance, 1e-9 * distance);
  EXPECT_GT(largest_difference(sent[kImages], start.inputs), 0);
}

TEST_F(FedGm, RefusesOtherRounds) {
  const auto whole = plugins().create("fedgm", {}),
             halves = plugins().create("fedgm", {{"label_epsilon", 2.0}});
  bench.start(*whole, 7, 1);
  bench.start(*whole, 7, 2);
  bench.start(*halves, 7, 2);
  expect_refused("set experiment.rounds = 1", [&] { bench.start(*whole, 7, 3); });
  expect_refused("set experiment.rounds = 2", [&] { bench.start(*halves, 7, 1); });
}

// The two halves.

Settings in_halves(double label_epsilon) {
  return {{"initialisations", 2},          {"outer_steps", 2},    {"image_encoding", "float32"},
          {"images_per_class", 3},         {"server_epochs", 20}, {"image_rate", 0.05},
          {"label_epsilon", label_epsilon}};
}

// All that the server has been sent, as the model sees it.
Batch received(TestRun& run, const Task& task) {
  const Message memory = unpack_checkpoint(run->save(), *task.model).server_state;
  return {memory[kImages], memory[kLabels]};
}

Batch in_order(const Batch& set) { return set.select(set.inputs.flatten(1).sum(1).argsort()); }

// At an epsilon so large that no answer differs from its label, both halves together are the set of one
// round, and the server trains on them as if they had come together: one batch an epoch.
TEST(FedGmInHalves, SendsEachImageOnceAndTrainsOnAll) {
  const Task task = image_task("logistic", {});
  TestRun whole(task, "fedgm", in_halves(0), {.rounds = 1}),
      halves(task, "fedgm", in_halves(60), {.rounds = 2});
  const Batch expected = in_order(whole.finish()->synthetic());
  halves->next_round();
  EXPECT_NEAR(static_cast<double>(halves->synthetic().size()), static_cast<double>(expected.size()) / 2, 2);
  const Batch sent = in_order(halves.finish()->synthetic());
  EXPECT_TRUE(sent.inputs.equal(expected.inputs));
  EXPECT_TRUE(sent.targets.equal(expected.targets));
  EXPECT_LE(norm(halves->params() - whole->params()), 1e-4 * norm(whole->params()));
}

// As epsilon goes to zero, RRWithPrior answers with the label that the prior favours, whatever the label is.
TEST(FedGmInHalves, TakesTheFirstHalfsModelAsThePriorOfTheSecond) {
  const Task task = image_task("logistic", {});
  TestRun run(task, "fedgm", in_halves(1e-9), {.rounds = 2});
  run->next_round();
  const Batch first = received(run, task);
  const Params prior = run->params();
  run->next_round();
  const Batch both = received(run, task);
  EXPECT_TRUE(both.inputs.narrow(0, 0, first.size()).equal(first.inputs));
  EXPECT_TRUE(both.targets.narrow(0, 0, first.size()).equal(first.targets)) << "answered once";
  const torch::Tensor second = both.inputs.narrow(0, first.size(), both.size() - first.size());
  EXPECT_TRUE(both.targets.narrow(0, first.size(), second.size(0))
                  .equal(task.model->forward(prior, second).argmax(1)));
}

// It then says nothing of any label.
TEST(FedGmInHalves, TakesNoPriorFromAModelThatDiverged) {
  const Task task = image_task("logistic", {});
  TestRun run(task, "fedgm", joined(in_halves(60), {{"rate", 3e38}}), {.rounds = 2});
  run->next_round();
  const std::int64_t first = received(run, task).size();
  ASSERT_FALSE(run->params().flat().isfinite().all().item<bool>());
  run->next_round();
  EXPECT_GT(received(run, task).size(), first);
}

TEST(FedGmInHalves, CostsEpsilonOnceInNameAndProtectsNoExample) {
  const Task task = image_task("logistic", {});
  TestRun run(task, "fedgm", in_halves(1.5), {.rounds = 2, .policy = RecordPolicy()});
  EXPECT_EQ(run->next_round().epsilon, kInfinity);
  EXPECT_EQ(run->next_round().epsilon, kInfinity);
  for (std::int64_t client = 0; client < 4; ++client) {
    EXPECT_THAT(nominal_sums(run->ledger().charged(client)), ElementsAre(testing::Pair(testing::_, 1.5)));
  }
}

// Clients that were not there in the first round send the half that is asked for.
TEST(FedGmInHalves, BearsClientsThatComeLate) {
  const Task task = image_task("logistic", {});
  TestRun run(task, "fedgm", in_halves(2), {.rounds = 2, .cohort_size = 2});
  run->next_round();
  const std::int64_t first = run->synthetic().size();
  run->next_round();
  EXPECT_GT(run->synthetic().size(), first);
  EXPECT_LE(run->synthetic().size(), 2 * first);
}

}  // namespace
}  // namespace fedarena
