// Outputs, gradients in outputs, and targets that are class probabilities: against LibTorch, whatever the
// workers.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "harness/gradients/engine/input_gradient.hpp"
#include "harness/gradients/engine/pass.hpp"
#include "harness/models/zoo.hpp"
#include "tests/harness/gradients/one_at_a_time.hpp"

namespace fedarena {
namespace {

Architecture niid_cnn() { return build_model("niid-cnn", {}, {.shape = {1, 28, 28}, .outputs = 10}); }

torch::Tensor random_slopes(const Model& model, std::int64_t count) {
  Stream stream({.seed = 9});
  return normal(stream, {count, model.num_classes()}).to(model.options());
}

// Against one pass of LibTorch over the whole batch.
void expect_exact_outputs(const Architecture& architecture, const WorkPool& pool, std::int64_t count) {
  const Trial trial(architecture, torch::kFloat64, pool);
  const Batch batch = trial.draw(count);
  const torch::Tensor slopes = random_slopes(trial.model, count);
  const torch::Tensor flat = trial.at.flat().clone().requires_grad_(),
                      inputs = batch.inputs.clone().requires_grad_();
  const torch::Tensor outputs = trial.model.forward({trial.at.layout(), flat}, inputs);
  EXPECT_LE(relative_error(trial.engine.outputs(trial.at, batch.inputs), outputs.detach()), 1e-12);
  const auto expected = torch::autograd::grad({outputs}, {flat, inputs}, {slopes}, false, false, true);
  const Compute::OutputGradient actual = trial.engine.output_gradient(trial.at, batch.inputs, slopes);
  EXPECT_LE(relative_error(actual.parameters.flat(), expected[0]), 1e-10);
  if (expected[1].defined()) {
    EXPECT_LE(relative_error(actual.inputs, expected[1]), 1e-10);
  } else {
    EXPECT_TRUE(actual.inputs.equal(torch::zeros_like(batch.inputs)));
  }
}

using Outputs = ByEither;
FEDARENA_BY_EITHER(Outputs);

TEST_P(Outputs, AndTheirGradientsAreExactForEveryModelOfTheZoo) {
  for (const ModelInfo& info : model_zoo()) {
    SCOPED_TRACE(info.name);
    expect_exact_outputs(zoo_architecture(info, {1, 28, 28}), two, 9);
  }
}

TEST_P(Outputs, AndTheirGradientsAreExactForRandomArchitectures) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    expect_exact_outputs(RandomArchitecture(seed).images_features_or_words(), two, 4);
  }
}

TEST_P(Outputs, DoNotDependOnWorkersAndMayBeNone) {
  const Model model(niid_cnn(), torch::kFloat32);
  const GradientEngine here(model, one), there(model, three);
  const Params at = random_params(model);
  const std::int64_t count = 3 * here.micro_batch() + 1;
  const torch::Tensor inputs = random_batch(model, count).inputs, slopes = random_slopes(model, count);
  EXPECT_TRUE(here.outputs(at, inputs).equal(there.outputs(at, inputs)));
  EXPECT_EQ(here.outputs(at, inputs.narrow(0, 0, 0)).sizes(), (torch::IntArrayRef{0, 10}));
  const Compute::OutputGradient left = here.output_gradient(at, inputs, slopes),
                                right = there.output_gradient(at, inputs, slopes);
  EXPECT_TRUE(left.parameters.flat().equal(right.parameters.flat()));
  EXPECT_TRUE(left.inputs.equal(right.inputs));
}

using ClassProbabilities = WithPools;

// Every way to a gradient, against LibTorch.
TEST_F(ClassProbabilities, AreTargetsOfEveryGradient) {
  const Trial trial(niid_cnn(), torch::kFloat64, two);
  const Model& model = trial.model;
  const Params direction = random_params(model, 4);
  const std::int64_t count = 19;
  const Batch batch{trial.draw(count).inputs, torch::softmax(random_slopes(model, count), 1)};
  const std::vector<torch::Tensor> separate = separate_gradients(model, trial.at, batch);
  const double clip_norm = median_norm(separate);
  EXPECT_LE(relative_error(trial.clipped(clip_norm, batch).sum.flat(), clipped_by_hand(separate, clip_norm)),
            1e-10);
  EXPECT_LE(relative_error(trial.mean(batch).flat(), model.gradient(trial.at, batch).flat()), 1e-10);
  EXPECT_LE(relative_error(trial.moved(batch, direction),
                           input_gradient_by_autograd(model, trial.at, direction, batch)),
            1e-9);
  EXPECT_NEAR(trial.score(batch).loss_sum,
              static_cast<double>(count) * model.loss(trial.at, batch).item<double>(), 1e-9);
}

TEST_F(ClassProbabilities, ThatAreCertainAreLabels) {
  const Trial trial(niid_cnn(), torch::kFloat32, two);
  const Batch hard = trial.draw(11);
  const Batch soft{hard.inputs, torch::one_hot(hard.targets, 10).to(torch::kFloat32)};
  EXPECT_TRUE(trial.mean(soft).flat().equal(trial.mean(hard).flat()));
}

}  // namespace
}  // namespace fedarena
