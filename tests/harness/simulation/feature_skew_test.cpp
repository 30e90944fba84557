// Clients that see their examples differently, in a whole run.
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

constexpr Key<Params> kGradient{"gradient"};

// FedSGD, which shows a test what clients read.
class Looking final : public Algorithm {
 public:
  void start(Server&) const override {}
  Message broadcast(const Server& server) const override { return {{kGradient, server.params}}; }
  Message train(Client& client, const Message& downlink) const override {
    const torch::Tensor inputs = client.oracle.exact_batch().inputs;
    {
      const std::lock_guard lock(mutex);
      seen[{client.round, client.id}] = inputs;
    }
    return {{kGradient, client.oracle.gradient(downlink[kGradient], {.batch_size = 0})}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params = server.params - uplink.mean(kGradient);
  }

  mutable std::mutex mutex;
  mutable std::map<std::pair<std::int64_t, std::int64_t>, torch::Tensor> seen;
};

class FeatureSkewTest : public SmallRuns<Looking> {
 protected:
  FeatureSkewTest() : SmallRuns({30, 100, 60}) {}

  SimulationSetup setup(const FeatureSkew& features, const WorkPool& workers) const {
    SimulationSetup setup = setup_on(workers, 3, 3);
    setup.features = features;
    return setup;
  }
  SimulationSetup setup(const FeatureSkew& features) const { return setup(features, pool); }
};

TEST_F(FeatureSkewTest, GivesEveryClientItsOwnLevelOfNoiseInEveryRound) {
  Simulation simulation(setup({.noise = 0.5}));
  while (!simulation.finished()) simulation.next_round();
  for (std::int64_t client = 0; client < 3; ++client) {
    const torch::Tensor plain = dataset.train.inputs.index_select(
        0, torch::tensor(partition[static_cast<std::size_t>(client)], torch::kInt64));
    const torch::Tensor noise = algorithm.seen[{1, client}] - plain.to(torch::kFloat64);
    if (client == 0) {
      EXPECT_EQ(noise.abs().max().item<double>(), 0);
    }
    // Of 180 values and more, the mean square misses this by more than half with a probability below 10^-6.
    EXPECT_NEAR(noise.square().mean().sqrt().item<double>(), 0.25 * static_cast<double>(client),
                0.07 * static_cast<double>(client));
    for (const std::int64_t round : {2, 3}) {
      EXPECT_TRUE(torch::equal(algorithm.seen[{round, client}], algorithm.seen[{1, client}]));
    }
  }
}

TEST_F(FeatureSkewTest, LeavesTheTestSetAsItIs) {
  results::RoundRecord plain, noisy;
  Simulation(setup({})).evaluate(plain);
  Simulation(setup({.noise = 0.5})).evaluate(noisy);
  EXPECT_EQ(plain.test_loss, noisy.test_loss);
  Simulation one(setup({})), other(setup({.noise = 0.5}));
  EXPECT_NE(one.next_round().test_loss, other.next_round().test_loss);
}

TEST_F(FeatureSkewTest, GivesTheSameBitsForAnyNumberOfWorkersAndAfterARestart) {
  const WorkPool one(1, use_one_torch_thread);
  Simulation alone(setup({.noise = 0.5}, one)), together(setup({.noise = 0.5}));
  alone.next_round();
  together.next_round();
  Simulation resumed(setup({.noise = 0.5}));
  resumed.restore(together.save());
  for (Simulation* simulation : {&alone, &together, &resumed}) {
    while (!simulation->finished()) simulation->next_round();
    EXPECT_TRUE(torch::equal(simulation->params().flat(), alone.params().flat()));
  }
}

}  // namespace
}  // namespace fedarena
