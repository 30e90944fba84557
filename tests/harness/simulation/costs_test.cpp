// What a round is recorded to have computed, against counts by hand.

#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

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

}  // namespace
}  // namespace fedarena
