#include <exception>
#include <malloc.h>
#include <map>
#include <mutex>
#include <thread>

#include "harness/simulation/round_notes.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using test::message_of;
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
    algorithm.on_aggregate = [](Server& server) { server.observed.add("radius", 0.5); };
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
  EXPECT_THAT(message_of([&] { simulation.next_round(); }),
              HasSubstr("the algorithm observes \"accuracy\", which is a name of the harness's own"));
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

  Simulation secret(setup_on(pool, 1, 3, clients_hidden()));
  secret.next_round();
  EXPECT_THAT(secret.next_round().choices, IsEmpty());

  algorithm.on_aggregate = [](Server& server) { server.choices = {0, -1, 2}; };
  EXPECT_THAT(message_of([&] { simulation.next_round(); }),
              HasSubstr("the algorithm tells 3 choices of models for a cohort of 3, -1 the least"));
}

TEST_F(ObservedMeans, OfNothingAreNone) { EXPECT_THAT(observed_means({}), IsEmpty()); }

// LibTorch does not count writes through data(), and which clients would see them depends on the workers.
class Downlinks : public SmallRuns<> {
 protected:
  Downlinks() : SmallRuns({3, 1, 6}) {}
  // One round of so many clients.
  SimulationSetup round_of(const Algorithm& own, std::int64_t cohort) {
    const SimulationSetup setup = setup_on(pool, 1, cohort);
    return {.dataset = setup.dataset,
            .partition = setup.partition,
            .model = setup.model,
            .algorithm = own,
            .pool = pool,
            .stop = setup.stop,
            .seed = 4,
            .rounds = 1,
            .cohort_size = cohort};
  }
};

TEST_F(Downlinks, AreReadByAllAndWrittenByNobody) {
  class Writer final : public Algorithm {
   public:
    Message train(Client& client, const Message& downlink) const override {
      if (client.id == 2) downlink[kModel].flat().data().mul_(1.5);
      return {{kModel, downlink[kModel]}};
    }
    void aggregate(Server& server, const Uplink& uplink) const override {
      server.params = uplink.mean(kModel);
    }
  };
  const Writer writer;
  Simulation simulation(round_of(writer, 3));
  EXPECT_THAT(message_of([&] { simulation.next_round(); }),
              HasSubstr("the message from the server was written to by the algorithm in train, round 1"));
}

// A tensor's deleter is the algorithm's own code, and runs when the accesses are written down.
TEST_F(Downlinks, AndOraclesAnswerNobodyOnceAClientHasTrained) {
  class Late final : public Algorithm {
   public:
    Message train(Client& client, const Message& downlink) const override {
      const auto ask = [this, &client](void* memory) {
        delete static_cast<double*>(memory);
        refusal = message_of([&] { (void)client.oracle.exact_batch(); });
      };
      client.state.put(Key<torch::Tensor>{"kept"},
                       torch::from_blob(new double(1), {1}, ask, torch::kFloat64));
      return {{kModel, downlink[kModel]},
              {Key<torch::Tensor>{"late"}, torch::from_blob(new double(1), {1}, ask, torch::kFloat64)}};
    }
    void aggregate(Server& server, const Uplink& uplink) const override {
      server.params = uplink.mean(kModel);
    }
    mutable std::string refusal;
  };
  const Late late;
  Simulation simulation(round_of(late, 1));
  simulation.next_round();
  EXPECT_THAT(late.refusal, HasSubstr("asked for examples after train() has returned"));
}

class Views : public SmallRuns<> {
 protected:
  Views() : SmallRuns({3, 1, 6}) {
    dataset.train.inputs = torch::zeros({10, 3, 1, 1}, torch::kUInt8);
    dataset.test.inputs = torch::zeros({7, 3, 1, 1}, torch::kUInt8);
    dataset.mean = dataset.deviation = {0.5, 0.5, 0.5};
    model =
        Model({.input_shape = {3, 1, 1}, .outputs = 2, .layers = {Flatten{}, Linear{3, 2}}}, torch::kFloat64);
  }
  double seen = 0;
};

TEST_F(Views, OfClientsCarryNothingToTheServer) {
  algorithm.on_train = [](Client& client, Params&) { client.pixel_range.data().fill_(7); };
  algorithm.on_aggregate = [&](Server& server) { seen = server.pixel_range.max().item<double>(); };
  Simulation simulation(setup_on(pool, 1, 3));
  simulation.next_round();
  EXPECT_EQ(seen, 1);
}

TEST_F(Views, OfTheServerCarryNothingToCellsOrOtherRounds) {
  SimulationSetup setup = setup_on(pool, 2, 3);
  setup.proxy = torch::zeros({2, 3, 1, 1});
  algorithm.on_aggregate = [&](Server& server) {
    seen += server.proxy.sum().item<double>();
    server.proxy.data().fill_(7);
  };
  Simulation simulation(setup);
  simulation.next_round();
  simulation.next_round();
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(setup.proxy.max().item<double>(), 0);
}

TEST_F(Views, OfABroadcastChangeNothingOfTheServer) {
  const Key<torch::Tensor> grid{"grid"};
  algorithm.on_start = [&](Server& server) { server.state.put(grid, torch::zeros({2})); };
  algorithm.on_broadcast = [&](const Server& server) {
    server.params.flat().data().fill_(7);
    server.state[grid].data().fill_(7);
  };
  Simulation simulation(setup_on(pool, 1, 3));
  const Bytes before = simulation.save();
  (void)simulation.next_downlink();
  EXPECT_EQ(simulation.save(), before);
}

TEST_F(Views, OfARoundThatFailsLeaveTheServersTensors) {
  const Key<torch::Tensor> grid{"grid"};
  algorithm.on_start = [&](Server& server) { server.state.put(grid, torch::zeros({2})); };
  algorithm.on_aggregate = [&](Server& server) {
    server.state[grid].fill_(7);
    throw Error::of("a wrong setting");
  };
  Simulation simulation(setup_on(pool, 1, 3));
  EXPECT_THAT(refused_round(simulation), HasSubstr("a wrong setting"));
}

// Which of two threads asks first decides which answer is whose.
TEST_F(Downlinks, AndOraclesAnswerInTheirClientsThreadAlone) {
  algorithm.on_train = [](Client& client, Params& at) {
    std::exception_ptr failure;
    std::thread([&] {
      try {
        (void)client.oracle.gradient(at, {.batch_size = 1});
      } catch (...) {
        failure = std::current_exception();
      }
    }).join();
    if (failure) std::rethrow_exception(failure);
  };
  Simulation simulation(setup_on(pool, 1, 1));
  EXPECT_THAT(message_of([&] { simulation.next_round(); }),
              HasSubstr("the oracle is asked for a gradient in a thread of the plugin's"));
}

// What a round is recorded to have computed, against counts by hand.

// 3 inputs and 2 outputs: 12 operations forward, 24 with the gradient (no input needs one), 60 with the
// gradient of a function of the gradient in the inputs.
constexpr std::int64_t kForward = 12, kGradient = 24, kInputGradient = 60;

Batch ones(const Model& model, std::int64_t count) {
  return {torch::ones({count, 3}, model.options()), torch::zeros({count}, torch::kInt64)};
}

class Costs : public SmallRuns<> {
 protected:
  Costs() : SmallRuns({3, 1, 6}) {
    algorithm.on_start = [](Server& server) {
      (void)server.compute.gradient(server.params, ones(server.model, 9));  // belongs to no round
    };
  }
  results::Cost next(const PrivacyPolicy& policy = NoPolicy{}) const {
    Simulation simulation(setup_on(pool, 5, 3, policy));
    const results::Cost first = simulation.next_round().cost;
    EXPECT_EQ(simulation.next_round().cost, first) << "each round counts from zero";
    return first;
  }
};

TEST_F(Costs, OfNothingIsNothingWhateverIsEvaluated) { EXPECT_EQ(next(), (results::Cost{0, 0, false})); }

TEST_F(Costs, OfGradientsAreCountedByExample) {
  algorithm.on_train = [](Client& client, Params& at) {
    (void)client.oracle.gradient(at, {.batch_size = 0});
    (void)client.oracle.gradient(at, {.batch_size = 1});
  };
  // The shards of 3, 1 and 6, and one example each.
  EXPECT_EQ(next(), (results::Cost{13, 13 * kGradient, false}));
}

TEST_F(Costs, OfClippedGradientsAreThoseOfGradients) {
  algorithm.on_train = [](Client& client, Params& at) {
    (void)client.oracle.gradient(at, {.batch_size = 0});
  };
  EXPECT_EQ(next(RecordPolicy{}), (results::Cost{10, 10 * kGradient, false}));
}

TEST_F(Costs, OfLossesAreForwardPasses) {
  algorithm.on_train = [](Client& client, Params& at) { (void)client.oracle.loss(at); };
  EXPECT_EQ(next(), (results::Cost{0, 10 * kForward, false}));
}

TEST_F(Costs, OfSyntheticExamplesCountOnBothSides) {
  algorithm.on_train = [](Client& client, Params& at) {
    (void)client.compute.gradient(at, ones(client.model, 4));
  };
  algorithm.on_aggregate = [](Server& server) {
    (void)server.compute.gradient(server.params, ones(server.model, 5));
  };
  EXPECT_EQ(next(), (results::Cost{17, 17 * kGradient, false}));
}

TEST_F(Costs, OfInputGradientsHaveASecondPass) {
  algorithm.on_train = [](Client& client, Params& at) {
    (void)client.compute.input_gradient(at, ones(client.model, 4),
                                        [](const Params& gradient) { return gradient; });
  };
  EXPECT_EQ(next(), (results::Cost{12, 12 * kInputGradient, false}));
}

// 2 inputs and one output: 4 operations forward, 8 with the gradient.
TEST_F(Costs, OfOtherNetworksAreTheirOwn) {
  const Model other({.input_shape = {2}, .outputs = 1, .layers = {Linear{2, 1}}}, torch::kFloat32);
  algorithm.on_train = [&](Client& client, Params&) {
    const std::unique_ptr<Compute> compute = client.compute.on(other);
    const Params at = zeros_like(Params::zeros(other.layout(), other.options()));
    (void)compute->outputs(at, torch::ones({5, 2}));
    (void)compute->on(other)->output_gradient(at, torch::ones({7, 2}), torch::ones({7, 1}));
    (void)compute->gradient(at, {torch::ones({2, 2}), torch::zeros({2}, torch::kInt64)});
  };
  EXPECT_EQ(next(), (results::Cost{27, 3 * (5 * 4 + 9 * 8), false}));
}

TEST_F(Costs, OfOutputsAreForwardPasses) {
  algorithm.on_train = [](Client& client, Params& at) {
    (void)client.compute.outputs(at, torch::ones({4, 3}, client.model.options()));
  };
  EXPECT_EQ(next(), (results::Cost{0, 12 * kForward, false}));
}

// How much a vote computes, its examples may decide; costs are published.
TEST_F(Costs, OfVotesCannotTellOfExamples) {
  const auto refusal = [&](const std::function<void(const Compute&, const Params&)>& leak) {
    algorithm.on_train = [&](Client& client, Params& at) {
      (void)client.oracle.noisy_sum(
          [&](const Voters& voters) {
            leak(client.compute, at);
            return torch::zeros({voters.size(), 1, 1});
          },
          {.parts = 1});
    };
    Simulation simulation(setup_on(pool, 1, 3));
    return message_of([&] { simulation.next_round(); });
  };
  const auto outputs = [&](const Compute& compute, const Params& at) {
    (void)compute.outputs(at, torch::ones({4, 3}, model.options()));
  };
  const std::string told = "the client's public compute is asked inside of a vote";
  EXPECT_THAT(refusal(outputs), HasSubstr(told));
  EXPECT_THAT(refusal([&](const Compute& compute, const Params& at) { outputs(*compute.on(model), at); }),
              HasSubstr(told));
}

// Long ones are to end with the run; whether they look for that, examples may decide.
TEST_F(Costs, OfVotesThatCanBeStoppedAreNone) {
  algorithm.on_train = [&](Client& client, Params&) {
    const Vote patient = [&](const Voters& voters) {
      client.compute.stop_if_interrupted();
      return torch::zeros({voters.size(), 1, 1});
    };
    (void)client.oracle.noisy_sum(patient, {.parts = 1});
  };
  EXPECT_EQ(next(), results::Cost());
  algorithm.on_train = [&](Client& client, Params&) {
    const Vote patient = [&](const Voters& voters) {
      stop = true;
      client.compute.stop_if_interrupted();
      return torch::zeros({voters.size(), 1, 1});
    };
    (void)client.oracle.noisy_sum(patient, {.parts = 1});
  };
  EXPECT_THROW(next(), Interrupted);
}

TEST_F(Costs, OfLoopsThatNobodyCountsAreAtLeastTheRest) {
  algorithm.on_train = [](Client& client, Params& at) {
    (void)client.oracle.gradient(at, {.batch_size = 1});
    if (client.id == 1) client.compute.stop_if_interrupted();
  };
  EXPECT_EQ(next(), (results::Cost{3, 3 * kGradient, true}));
}

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
  Simulation simulation(setup({.noise = 0.5}));
  while (!simulation.finished()) simulation.next_round();
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
