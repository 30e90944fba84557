#include <malloc.h>
#include <map>
#include <mutex>

#include "harness/simulation/round_notes.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using ::testing::Pair;

class ObservedMeans : public SmallRuns<> {
 protected:
  ObservedMeans() : SmallRuns({2, 2, 3, 4, 1}) {
    algorithm.on_start = [](Server& server) { server.observed.add("before", 1); };
    algorithm.on_broadcast = [](const Server& server) {
      server.observed.add("sent", static_cast<double>(server.round));
    };
    algorithm.on_train = [](Client& client, Params&) {
      client.observed.add("loss-of-own", 0.1 * static_cast<double>(client.id));
      client.observed.add("loss-of-own", 0.7 / static_cast<double>(client.round));
    };
    // Messages are counted, so that the server sees nothing of what clients observed before it is done.
    algorithm.on_aggregate = [](Server& server) {
      EXPECT_THAT(server.observed.values(), ElementsAre(Pair("sent", ::testing::_)));
      server.observed.add("radius", 0.5);
    };
  }
};

TEST_F(ObservedMeans, AreOverAllValuesOfARound) {
  Simulation simulation(setup_on(pool, 2, 5));
  const double clients = 0.1 * (0 + 1 + 2 + 3 + 4) / 10;
  EXPECT_THAT(simulation.next_round().observed,
              ElementsAre(Pair("loss-of-own", ::testing::DoubleNear(clients + 0.35, 1e-15)),
                          Pair("radius", 0.5), Pair("sent", 1)));
  EXPECT_THAT(simulation.next_round().observed,
              ElementsAre(Pair("loss-of-own", ::testing::DoubleNear(clients + 0.175, 1e-15)),
                          Pair("radius", 0.5), Pair("sent", 2)));
}

// A client's own numbers do not pass the mechanism that hides clients; the server's are made of what did.
TEST_F(ObservedMeans, OfClientsAreLeftOutWhereClientsAreHidden) {
  Simulation simulation(setup_on(pool, 1, 5, clients_hidden()));
  EXPECT_THAT(simulation.next_round().observed, ElementsAre(Pair("radius", 0.5), Pair("sent", 1)));
}

TEST_F(ObservedMeans, MayNotBeCalledLikeAMeasure) {
  algorithm.on_train = [](Client& client, Params&) { client.observed.add("accuracy", 1); };
  Simulation simulation(setup_on(pool, 1, 5));
  expect_refused("the algorithm observes \"accuracy\", which is a name of the harness's own",
                 [&] { simulation.next_round(); });
  EXPECT_EQ(simulation.rounds_done(), 0);
}

TEST_F(ObservedMeans, TellWhoTookWhichModel) {
  algorithm.on_aggregate = [](Server& server) {
    if (server.round > 1) server.choices = {1, 0, 3};
  };
  Simulation simulation(setup_on(pool, 1, 3));
  EXPECT_THAT(simulation.next_round().choices, IsEmpty());
  const std::vector<results::ModelChoice> chosen = simulation.next_round().choices;
  ASSERT_EQ(chosen.size(), 3U);
  EXPECT_EQ(chosen[0].model, 1);
  EXPECT_EQ(chosen[1].model, 0);
  EXPECT_EQ(chosen[2].model, 3);
  EXPECT_LT(chosen[0].client, chosen[1].client);

  BegunRun secret(setup_on(pool, 1, 3, clients_hidden()), 1);
  EXPECT_THAT(secret.next_round().choices, IsEmpty());

  algorithm.on_aggregate = [](Server& server) { server.choices = {0, -1, 2}; };
  expect_refused("the algorithm tells 3 choices of models for a cohort of 3, -1 the least",
                 [&] { simulation.next_round(); });
}

TEST_F(ObservedMeans, OfNothingAreNone) { EXPECT_THAT(observed_means({}), IsEmpty()); }

// Clients that see their examples differently, in a whole run.

class FeatureSkewTest : public SmallRuns<> {
 protected:
  // FedSGD that keeps what clients read.
  FeatureSkewTest() : SmallRuns({30, 100, 60}) {
    algorithm.on_train = [this](Client& client, Params& model) {
      const torch::Tensor inputs = client.oracle.exact_batch().inputs;
      model -= client.oracle.gradient(model, {.batch_size = 0});
      const std::lock_guard lock(mutex);
      seen[{client.round, client.id}] = inputs;
    };
  }

  SimulationSetup setup(const FeatureSkew& features, const WorkPool& workers) const {
    SimulationSetup setup = setup_on(workers, 3, 3);
    setup.features = features;
    return setup;
  }
  SimulationSetup setup(const FeatureSkew& features) const { return setup(features, pool); }

  std::mutex mutex;
  std::map<std::pair<std::int64_t, std::int64_t>, torch::Tensor> seen;
};

TEST_F(FeatureSkewTest, GivesEveryClientItsOwnLevelOfNoiseInEveryRound) {
  FinishedRun simulation(setup({.noise = 0.5}));
  for (std::int64_t client = 0; client < 3; ++client) {
    const torch::Tensor plain = dataset.train.inputs.index_select(
        0, torch::tensor(partition[static_cast<std::size_t>(client)], torch::kInt64));
    const torch::Tensor noise = seen[{1, client}] - plain.to(torch::kFloat64);
    if (client == 0) {
      EXPECT_EQ(noise.abs().max().item<double>(), 0);
    }
    // Of 180 values and more, the mean square misses this by more than half with a probability below 10^-6.
    EXPECT_NEAR(noise.square().mean().sqrt().item<double>(), 0.25 * static_cast<double>(client),
                0.07 * static_cast<double>(client));
    for (const std::int64_t round : {2, 3}) {
      EXPECT_TRUE(torch::equal(seen[{round, client}], seen[{1, client}]));
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
  BegunRun alone(setup({.noise = 0.5}, one), 1), together(setup({.noise = 0.5}), 1);
  ResumedRun resumed(setup({.noise = 0.5}), together);
  for (Simulation* simulation : std::initializer_list<Simulation*>{&alone, &together, &resumed}) {
    while (!simulation->finished()) simulation->next_round();
    EXPECT_TRUE(torch::equal(simulation->params().flat(), alone.params().flat()));
  }
}

// What clients cost that do not take part: a federation of a million must fit into memory.

// Bytes that the program has allocated and not freed.
std::int64_t bytes_in_use() {
  const struct mallinfo2 use = mallinfo2();
  return static_cast<std::int64_t>(use.uordblks + use.hblkhd);
}

class Population : public SmallRuns<> {
 protected:
  static constexpr std::int64_t kClients = 50'000;
  Population() : SmallRuns<>(std::vector<std::int64_t>(kClients, 1)) {}
};

TEST_F(Population, TakesLittleMemoryForClientsThatSitOut) {
  const std::int64_t before = bytes_in_use();
  const Partition dealt = partition;
  Simulation simulation(setup_on(pool, 3, 10));
  constexpr std::int64_t kIndices = kClients * 8;  // which examples they hold: data
  EXPECT_LT(bytes_in_use() - before - kIndices, 100 * kClients);
  EXPECT_LT(simulation.save().size(), kClients);
  const std::int64_t made = bytes_in_use();
  for (int round = 0; round < 3; ++round) simulation.next_round();
  EXPECT_LT(bytes_in_use() - made, 5 * kClients);
  EXPECT_LT(simulation.save().size(), kClients);
}

}  // namespace
}  // namespace fedarena
