// Clipped sums of per-example gradients against autograd on one example at a time: every model of the zoo,
// every rule, and random architectures.
#include "harness/gradients/engine/per_example.hpp"

#include <vector>

#include "harness/models/zoo.hpp"
#include "tests/harness/gradients/one_at_a_time.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using PerExample = ByEither;
FEDARENA_BY_EITHER(PerExample);
// What is about workers and micro-batches alone, by the CPU.
using PerExamples = WithPools;

TEST_P(PerExample, IsExactForEveryModelOfTheZoo) {
  for (const ModelInfo& info : model_zoo()) {
    SCOPED_TRACE(info.name);
    for (const std::vector<std::int64_t>& shape : zoo_images()) {
      const Architecture architecture = zoo_architecture(info, shape);
      expect_exact_clipping(architecture, torch::kFloat32, two, 9, 11);
      expect_exact_clipping(architecture, torch::kFloat64, two, 3, 12);
    }
  }
}

TEST_P(PerExample, IsExactForEveryNormalisationOfTheConvNet) {
  for (const char* norm : {"instance", "layer", "none"}) {
    SCOPED_TRACE(norm);
    const Architecture architecture =
        build_model("convnet", {{"width", 12}, {"norm", norm}}, {.shape = {3, 16, 16}, .outputs = 10});
    expect_exact_clipping(architecture, torch::kFloat32, two, 40, 13);
    expect_exact_clipping(architecture, torch::kFloat64, two, 40, 13);
  }
}

TEST_P(PerExample, LossesAndNormsAreThoseOfSingleExamples) {
  const Architecture architecture = build_model("niid-cnn", {}, {.shape = {1, 28, 28}, .outputs = 10});
  const Model model(architecture, torch::kFloat64);
  Stream stream({.seed = 5});
  const Params at = model.initial(stream);
  Batch batch = random_batch(model, 23, 5);
  batch.inputs[7] *= 1e200;  // more than rules can square
  const GradientEngine engine(model, two);
  const torch::Tensor norms = engine.gradient_norms(at, 23, slices_of(batch));
  const torch::Tensor losses = engine.losses(at, 23, slices_of(batch));
  for (std::int64_t i = 0; i < 23; ++i) {
    const Batch one = slices_of(batch)(i, i + 1);
    const double norm =
        i == 7 ? norms[i].item<double>() : model.gradient(at, one).flat().norm().item<double>();
    EXPECT_NEAR(norms[i].item<double>(), norm, 1e-10 * norm) << "example " << i;
    const double loss = model.loss(at, one).item<double>();
    EXPECT_NEAR(losses[i].item<double>(), loss, 1e-14 * loss) << "example " << i;
  }
  EXPECT_GT(norms[7].item<double>(), 1e190);
  EXPECT_TRUE(torch::equal(norms, GradientEngine(model, seven).gradient_norms(at, 23, slices_of(batch))));
}

TEST_P(PerExample, IsExactForRandomArchitectures) {
  for (std::uint64_t seed = 1; seed <= (test::long_tests() ? 150U : 60U); ++seed) {
    const Architecture architecture = RandomArchitecture(seed).images_features_or_words();
    expect_exact_clipping(architecture, torch::kFloat32, one, 7, seed);
    expect_exact_clipping(architecture, torch::kFloat64, one, 7, seed);
  }
}

// Many channels on few positions, where norms are taken without the gradients; the second normalises what the
// convolution gives, so that its gradients cancel between positions (a constant added to a map changes
// nothing).
TEST_P(PerExample, IsExactForWideConvolutionsOnSmallMaps) {
  const std::vector<Layer> plain{Conv2d{48, 64, 3, 1}, Relu{}, Flatten{}, Linear{1024, 3}};
  const std::vector<Layer> normalised{Conv2d{48, 64, 3, 1}, GroupNorm{64, 64}, Relu{}, Flatten{},
                                      Linear{1024, 3}};
  for (const auto& layers : {plain, normalised}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Architecture architecture{.input_shape = {48, 4, 4}, .outputs = 3, .layers = layers};
      expect_exact_clipping(architecture, torch::kFloat32, two, 21, seed);
    }
  }
}

TEST_P(PerExample, AddsUpWhatOneExampleLooksUpTwice) {
  const Model model({.input_shape = {3},
                     .outputs = 1,
                     .layers = {Embedding{4, 1}, Flatten{}, Linear{3, 1}},
                     .loss = Loss::kSquaredError},
                    torch::kFloat64);
  // Table (1, 2, 0, 0), weights (1, 2, 3), bias 0; words 1, 0, 1: prediction 2 + 2 + 6 = 10, target 9.
  const Params at(model.layout(), torch::tensor({1., 2., 0., 0., 1., 2., 3., 0.}, torch::kFloat64));
  const Batch batch{torch::tensor({{1., 0., 1.}}, torch::kFloat64), torch::tensor({{9.}}, torch::kFloat64)};
  const GradientEngine engine(model, one);
  const auto clipped = [&](double bound) {
    return engine.clipped_gradient_sum(at, bound, 1, slices_of(batch));
  };
  EXPECT_TRUE(torch::equal(clipped(kInfinity).sum.flat(),
                           torch::tensor({2., 4., 0., 0., 2., 1., 2., 1.}, torch::kFloat64)));
  // Its norm is the root of 4 + 16 + 4 + 1 + 4 + 1 = 30.
  EXPECT_NEAR(norm(clipped(2).sum), 2, 1e-11);
  EXPECT_EQ(clipped(std::sqrt(30.1)).clipped, 0);
}

Architecture narrow_convnet() {
  return build_model("convnet", {{"width", 8}}, {.shape = {3, 16, 16}, .outputs = 4});
}

TEST_P(PerExample, WithoutABoundIsThePlainGradient) {
  const Trial trial(narrow_convnet(), torch::kFloat64, two);
  const Batch batch = trial.draw(50);
  const Params mean = trial.mean(batch);
  const ClippedSum sum = trial.clipped(kInfinity, batch);
  EXPECT_LE(norm(1.0 / 50 * sum.sum - mean), 1e-12 * norm(mean));
  EXPECT_EQ(sum.clipped, 0);
}

TEST_F(PerExamples, GivesTheSameBitsForAnyNumberOfWorkers) {
  const Trial alone(narrow_convnet(), torch::kFloat32, one);
  const Batch batch = alone.draw(5 * alone.engine.micro_batch() + 3);
  const ClippedSum expected = alone.clipped(1, batch);
  for (const WorkPool* pool : {&two, &seven}) {
    const ClippedSum actual = Trial(narrow_convnet(), torch::kFloat32, *pool).clipped(1, batch);
    EXPECT_TRUE(torch::equal(actual.sum.flat(), expected.sum.flat()));
    EXPECT_EQ(actual.clipped, expected.clipped);
  }
}

TEST_P(PerExample, LeavesTheBatchAsItIs) {
  const Trial trial({.input_shape = {2, 4, 4}, .outputs = 2, .layers = {Relu{}, Flatten{}, Linear{32, 2}}},
                    torch::kFloat32, one);
  const Batch batch = trial.draw(5);
  const torch::Tensor before = batch.inputs.clone();
  trial.clipped(1, batch);
  EXPECT_TRUE(torch::equal(batch.inputs, before));
}

Architecture with_custom_layers() {
  return {.input_shape = {4}, .outputs = 2, .layers = {Linear{4, 4}, gate(), Relu{}, Linear{3, 2}}};
}

TEST_P(PerExample, FallsBackToOneAtATimeForLayersWithoutARule) {
  const Trial trial(with_custom_layers(), torch::kFloat64, two);
  const Batch batch = trial.draw(12);
  const std::vector<torch::Tensor> gradients = separate_gradients(trial.model, trial.at, batch);
  const double bound = median_norm(gradients);
  EXPECT_LE(largest_difference(trial.clipped(bound, batch).sum.flat(), clipped_by_hand(gradients, bound)),
            1e-11);
}

TEST_P(PerExample, WarnsOnlyOfLayersWithoutARule) {
  EXPECT_THAT(per_example_warning(Model(with_custom_layers(), torch::kFloat64)),
              HasSubstr("one example at a time"));
  for (const ModelInfo& info : model_zoo()) {
    const Model model(zoo_architecture(info, {1, 28, 28}), torch::kFloat32);
    EXPECT_EQ(per_example_warning(model).empty(), !has_custom_layers(model.architecture())) << info.name;
  }
}

TEST_P(PerExample, RefusesBatchNormalisationAndSaysWhy) {
  const Architecture architecture{.input_shape = {2, 4, 4},
                                  .outputs = 2,
                                  .layers = {Conv2d{2, 3, 3, 1}, BatchNorm{3}, Flatten{}, Linear{48, 2}}};
  const Trial trial(architecture, torch::kFloat64, one);
  for (const std::int64_t count : {0, 1, 5}) {
    expect_refused(has_all("BatchNorm", "depends on the other examples", "GroupNorm"),
                   [&] { trial.clipped(1, trial.draw(count)); });
  }
  // What is refused is real: the sum over a batch is not the sum over its examples.
  const Batch batch = trial.draw(5);
  const torch::Tensor sum = clipped_by_hand(separate_gradients(trial.model, trial.at, batch), kInfinity);
  EXPECT_GT((trial.model.gradient(trial.at, batch).flat() - 0.2 * sum).norm().item<double>(), 1e-3);
}

}  // namespace
}  // namespace fedarena
