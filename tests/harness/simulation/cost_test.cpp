// What a round is recorded to have computed, against counts by hand.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

// 3 inputs and 2 outputs: 12 operations forward, 24 with the gradient (no input needs one), 60 with the
// gradient of a function of the gradient in the inputs.
constexpr std::int64_t kForward = 12, kGradient = 24, kInputGradient = 60;
constexpr Key<Params> kCostModel{"model"};

// Computes what a test asks for and passes the model on.
class Busy final : public Algorithm {
 public:
  void start(Server& server) const override {
    (void)server.compute.gradient(server.params, batch_of(server.model, 9));  // belongs to no round
  }
  Message broadcast(const Server& server) const override { return {{kCostModel, server.params}}; }
  Message train(Client& client, const Message& downlink) const override {
    if (on_train) on_train(client, downlink[kCostModel]);
    return {{kCostModel, downlink[kCostModel]}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params = uplink.mean(kCostModel);
    if (on_aggregate) on_aggregate(server);
  }

  static Batch batch_of(const Model& model, std::int64_t count) {
    return {torch::ones({count, 3}, model.options()), torch::zeros({count}, torch::kInt64)};
  }

  std::function<void(Client&, const Params&)> on_train;
  std::function<void(Server&)> on_aggregate;
};

class Costs : public SmallRuns<Busy> {
 protected:
  Costs() : SmallRuns({3, 1, 6}) {}
  results::Cost next(const PrivacyPolicy& policy = NoPolicy{}) const {
    Simulation simulation(setup_on(pool, 5, 3, policy));
    const results::Cost first = simulation.next_round().cost;
    EXPECT_EQ(simulation.next_round().cost, first) << "each round counts from zero";
    return first;
  }
};

TEST_F(Costs, OfNothingIsNothingWhateverIsEvaluated) { EXPECT_EQ(next(), (results::Cost{0, 0, false})); }

TEST_F(Costs, OfGradientsAreCountedByExample) {
  algorithm.on_train = [](Client& client, const Params& at) {
    (void)client.oracle.gradient(at, {.batch_size = 0});
    (void)client.oracle.gradient(at, {.batch_size = 1});
  };
  // The shards of 3, 1 and 6, and one example each.
  EXPECT_EQ(next(), (results::Cost{13, 13 * kGradient, false}));
}

TEST_F(Costs, OfClippedGradientsAreThoseOfGradients) {
  algorithm.on_train = [](Client& client, const Params& at) {
    (void)client.oracle.gradient(at, {.batch_size = 0});
  };
  EXPECT_EQ(next(RecordPolicy{}), (results::Cost{10, 10 * kGradient, false}));
}

TEST_F(Costs, OfLossesAreForwardPasses) {
  algorithm.on_train = [](Client& client, const Params& at) { (void)client.oracle.loss(at); };
  EXPECT_EQ(next(), (results::Cost{0, 10 * kForward, false}));
}

TEST_F(Costs, OfSyntheticExamplesCountOnBothSides) {
  algorithm.on_train = [](Client& client, const Params& at) {
    (void)client.compute.gradient(at, Busy::batch_of(client.model, 4));
  };
  algorithm.on_aggregate = [](Server& server) {
    (void)server.compute.gradient(server.params, Busy::batch_of(server.model, 5));
  };
  EXPECT_EQ(next(), (results::Cost{17, 17 * kGradient, false}));
}

TEST_F(Costs, OfInputGradientsHaveASecondPass) {
  algorithm.on_train = [](Client& client, const Params& at) {
    (void)client.compute.input_gradient(at, Busy::batch_of(client.model, 4),
                                        [](const Params& gradient) { return gradient; });
  };
  EXPECT_EQ(next(), (results::Cost{12, 12 * kInputGradient, false}));
}

TEST_F(Costs, OfLoopsThatNobodyCountsAreAtLeastTheRest) {
  algorithm.on_train = [](Client& client, const Params& at) {
    (void)client.oracle.gradient(at, {.batch_size = 1});
    if (client.id == 1) client.compute.stop_if_interrupted();
  };
  EXPECT_EQ(next(), (results::Cost{3, 3 * kGradient, true}));
}

TEST_F(Costs, DoNotDependOnWorkers) {
  algorithm.on_train = [](Client& client, const Params& at) {
    for (int step = 0; step < 20; ++step) (void)client.oracle.gradient(at, {.batch_size = 2});
  };
  const WorkPool one{1, use_one_torch_thread};
  Simulation serial(setup_on(one, 3, 3)), parallel(setup_on(pool, 3, 3));
  while (!serial.finished()) EXPECT_EQ(serial.next_round().cost, parallel.next_round().cost);
}

}  // namespace
}  // namespace fedarena
