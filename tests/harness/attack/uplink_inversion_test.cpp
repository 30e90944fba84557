// From a client's uplink to its images: federated SGD on tiny images, one step.
#include "harness/attack/uplink_inversion.hpp"

#include "harness/models/zoo.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

constexpr double kStep = 0.05;  // of ScriptedSgd

// One step of one whole shard; or the gradient itself.
class UplinkInversions : public SmallRuns<ScriptedSgd> {
 protected:
  static constexpr std::int64_t kSide = 8, kClasses = 4;

  UplinkInversions() : SmallRuns({1, 1, 2, 0}) {
    Stream stream({.seed = 2});
    dataset.train = {uniform(stream, {7, 1, kSide, kSide}, 0, 256).to(torch::kUInt8),
                     torch::tensor({1, 3, 0, 2, 2, 1, 0}, torch::kInt64)};
    dataset.test = dataset.train;
    dataset.classes = kClasses;
    dataset.mean = {0.5};
    dataset.deviation = {0.25};
    model = {build_model("dlg-lenet", {}, {.shape = {1, kSide, kSide}, .outputs = kClasses}),
             torch::kFloat32};
    algorithm.steps = 1;
    algorithm.batch_size = 0;
  }

  std::vector<InvertedUplink> inverted(const std::vector<std::int64_t>& clients,
                                       const PrivacyPolicy& policy = NoPolicy{}, int workers = 2) {
    const WorkPool workers_of(workers, use_one_torch_thread);
    const SimulationSetup setup = setup_on(workers_of, 1, 4, policy);
    Simulation simulation(setup);
    return invert_uplinks({.simulation = simulation,
                           .setup = setup,
                           .hyper_parameters = {{"rate", kStep}, {"batch_size", std::int64_t{0}}},
                           .effort = {.iterations = 40}},
                          clients);
  }
};

TEST_F(UplinkInversions, FindTheImagesOfEachClient) {
  for (const bool sends_gradient : {false, true}) {
    if (sends_gradient) {
      algorithm.on_send = [](Client&, Message& uplink) {
        uplink = {{Key<Params>{"gradient"}, (-1 / kStep) * uplink[kUpdate]}};
      };
    }
    const std::vector<InvertedUplink> found = inverted({0, 1});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(success_share(found), 1);
    for (const InvertedUplink& uplink : found) {
      ASSERT_EQ(uplink.examples.size(), 1U);
      const InvertedExample& example = uplink.examples.front();
      EXPECT_EQ(example.guess, example.label);
      EXPECT_EQ(example.label, dataset.train.targets[uplink.client].item<std::int64_t>());
      const torch::Tensor stored = dataset.train.inputs[uplink.client].to(torch::kFloat32) / 255;
      EXPECT_LE((example.original - stored).abs().max().item<double>(), 1e-6);
    }
  }
}

TEST_F(UplinkInversions, FindTheImagesOfABatchInWhateverOrder) {
  const std::vector<InvertedUplink> found = inverted({2});
  ASSERT_EQ(found.front().examples.size(), 2U);
  EXPECT_EQ(success_share(found), 1);
  const results::LabelledImages pairs = side_by_side(found);
  EXPECT_EQ(pairs.labels, (std::vector<std::int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(pairs.image(2)[0], found.front().examples[1].original[0][0][0].item<float>());
  EXPECT_EQ(pairs.image(3)[5], found.front().examples[1].reconstruction[0][0][5].item<float>());
}

// A control variate, a step too long, or a gradient at a model of the client's own.
TEST_F(UplinkInversions, RefuseWhatIsNotTheMeanOfAClientsGradients) {
  const std::string refusal = "what client 0 sends is not the mean of its gradients from the global model on";
  algorithm.on_send = [](Client&, Message& uplink) {
    uplink.put(kUpdate, uplink[kUpdate] + 1e-3 * uplink[kControl]);
  };
  expect_refused(refusal, [&] { inverted({0}); });
  LocalPolicy local;
  local.clip_norm = 1e-3;
  expect_refused(refusal, [&] { inverted({0}, local); });
  algorithm.on_send = [](Client&, Message& uplink) { uplink.put(kUpdate, 1.01 * uplink[kUpdate]); };
  expect_refused(refusal, [&] { inverted({0}); });
  algorithm.on_send = [](Client& client, Message& uplink) {
    const Params elsewhere = 3.0 * uplink[kControl];
    uplink = {{Key<Params>{"gradient"}, client.oracle.gradient(elsewhere, {.batch_size = 0})}};
  };
  expect_refused(refusal, [&] { inverted({0}); });
  algorithm.steps = 0;
  expect_refused(refusal, [&] { inverted({0}); });
}

TEST_F(UplinkInversions, TakeSeveralStepsForTheirMean) {
  algorithm.steps = 3;
  EXPECT_EQ(inverted({0}).front().gradients, 3);
}

TEST_F(UplinkInversions, FailWhereAPolicyAddedNoise) {
  ClientPolicy clients;
  clients.sampling = kWithoutReplacement;
  for (const PrivacyPolicy& policy : {PrivacyPolicy(RecordPolicy()), PrivacyPolicy(clients)}) {
    EXPECT_EQ(success_share(inverted({0, 1}, policy)), 0);
  }
}

TEST_F(UplinkInversions, AreTheSameForAnyNumberOfWorkers) {
  const std::vector<InvertedUplink> one = inverted({0, 1}, NoPolicy{}, 1),
                                    three = inverted({0, 1}, NoPolicy{}, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(torch::equal(one[i].examples[0].reconstruction, three[i].examples[0].reconstruction));
  }
}

TEST(SharedGradients, AreUpdatesOverMinusTheRate) {
  auto layout = std::make_shared<Layout>();
  layout->add({1});
  const Params update(layout, torch::tensor({3.0}, torch::kFloat64));
  for (const char* name : {"update", "model_update"}) {
    EXPECT_EQ(gradient_in({{Key<Params>{name}, update}}, 0.5).flat().item<double>(), -6);
  }
  EXPECT_EQ(gradient_in({{Key<Params>{"gradient"}, update}}, 0.5).flat().item<double>(), 3);
}

TEST_F(UplinkInversions, NeedAGradientOfSomething) {
  expect_refused("client 3 took no gradient of any example", [&] { inverted({3}); });
  expect_refused("sends: examples", [&] { gradient_in({{kExamples, std::int64_t{3}}}, 1); });
}

}  // namespace
}  // namespace fedarena
