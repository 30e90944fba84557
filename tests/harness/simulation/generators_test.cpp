// Generators of images in runs: through the oracle, which asks voters in blocks on several workers.
#include "fedarena/generators.hpp"

#include <map>
#include <mutex>
#include <string>

#include "fedarena/adam.hpp"

#include "datasets/registry.hpp"
#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

class GeneratorsInRuns : public SmallRuns<> {
 protected:
  GeneratorsInRuns() : SmallRuns({90, 75}) {
    Stream stream({.seed = 8});
    model = Model({.input_shape = {1, 12, 12}, .outputs = 2, .layers = {Flatten{}, Linear{144, 2}}},
                  torch::kFloat32);
    dataset.train.inputs = uniform(stream, {165, 1, 12, 12}, 0, 256).to(torch::kUInt8);
    dataset.test.inputs = dataset.train.inputs.narrow(0, 0, 7);
    dataset.mean = {0.5};
    dataset.deviation = {0.25};
  }

  struct Drawn {
    std::map<std::int64_t, torch::Tensor> images;
    std::map<std::int64_t, double> votes;
  };
  Drawn run(const std::string& generator, int workers) {
    Generators config{.generator = generator,
                      .generator_width = 16,
                      .generator_batch_size = 8,
                      .teachers = 70,
                      .top_k = 20,
                      .merf_frequencies = 30,
                      .merf_steps = 10,
                      .psg_models = 1,
                      .psg_points = 2,
                      .psg_epochs = 1,
                      .psg_gradients = 2,
                      .psg_batch_size = 30};
    Drawn drawn;
    std::mutex mutex;
    algorithm.on_train = [&](Client& client, Params&) {
      const torch::Tensor images = generate(config, client, 11).inputs;
      const std::lock_guard lock(mutex);
      drawn.images[client.id] = images;
      drawn.votes[client.id] =
          client.observed.values().at(generator == "psg" ? "private-gradients" : "votes").sum;
    };
    RecordPolicy policy = records_hidden();
    policy.noise_multiplier = 20;
    policy.budget = PerClient({2.0, 4.0});
    const WorkPool pool(workers, use_one_torch_thread);
    Simulation simulation(setup_on(pool, 1, 2, policy));
    EXPECT_EQ(simulation.next_round().clients, 2) << "nobody overspends";
    return drawn;
  }
};

TEST_F(GeneratorsInRuns, DrawTheSameImagesForAnyNumberOfWorkers) {
  for (const char* generator : {"datalens", "dp-merf", "psg"}) {
    const Drawn one = run(generator, 1), three = run(generator, 3);
    ASSERT_EQ(one.images.size(), 2U);
    for (const auto& [client, images] : one.images) {
      EXPECT_EQ(images.sizes(), (torch::IntArrayRef{11, 1, 12, 12}));
      EXPECT_TRUE(images.equal(three.images.at(client))) << generator;
    }
    EXPECT_EQ(one.votes, three.votes);
  }
}

TEST_F(GeneratorsInRuns, TakeMoreVotesOfTeachersWhereTheBudgetIsLarger) {
  const Drawn drawn = run("datalens", 2);
  EXPECT_GT(drawn.votes.at(0), 8);
  EXPECT_GT(drawn.votes.at(1), 2 * drawn.votes.at(0));
  // Black is -2 and white 2: what is drawn lies between them, and nothing else would be on both sides of 0.
  EXPECT_GT(drawn.images.at(1).abs().max().item<double>(), 0.1);
  EXPECT_LT(drawn.images.at(1).abs().max().item<double>(), 2);
}

// One client of 1,200 glyphs of ten classes, without privacy.
class GeneratorsOfGlyphs : public SmallRuns<> {
 protected:
  GeneratorsOfGlyphs() : SmallRuns({1'200}) {
    dataset = load_dataset("glyphs", {{"train", std::int64_t{1'200}}}, {});
    model = Model({.input_shape = {1, 28, 28}, .outputs = 10, .layers = {Flatten{}, Linear{784, 10}}},
                  torch::kFloat32);
  }

  Batch drawn(const Generators& config) {
    Batch images;
    algorithm.on_train = [&](Client& client, Params&) { images = generate(config, client, 500); };
    BegunRun simulation(setup_on(pool, 1, 1), 1);
    return images;
  }
  // The share of the 2,000 test glyphs on which a model is right that has seen these images only.
  double accuracy_after(const Batch& images) const {
    Stream stream({.seed = 9});
    Params params = model.initial(stream);
    Adam adam;
    for (int step = 0; step < 150; ++step) adam.step(params, model.gradient(params, images), 0.003);
    const torch::Tensor pixels = dataset.test.inputs.to(torch::kFloat32) / 255;
    const torch::Tensor outputs =
        model.forward(params, (pixels - dataset.mean[0]) / dataset.deviation[0]).detach();
    return outputs.argmax(1).eq(dataset.test.targets).to(torch::kFloat64).mean().item<double>();
  }
};

// What a private row lacks then is what privacy costs. A model that guesses is right on 30 % of 2,000 glyphs
// with a probability below 1e-60 (Hoeffding: exp(-2 * 2,000 * 0.2^2)).
TEST_F(GeneratorsOfGlyphs, DrawImagesThatTeachTheirClassesWhereThereIsNoNoise) {
  const Generators datalens{.generator_steps = 60, .teachers = 60, .top_k = 200, .vote_threshold = 0.05};
  EXPECT_GE(accuracy_after(drawn(datalens)), 0.3);
  EXPECT_LE(accuracy_after(drawn({.generator = "noise"})), 0.2);
}

}  // namespace
}  // namespace fedarena
