// Gradients against central finite differences in double precision, for every kind of layer and loss.
#include <string>
#include <vector>

#include <torch/csrc/autograd/autograd.h>

#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

// Products with two learnt vectors, one behind the other.
Custom doubling() {
  return {"double",
          {{3}, {3}},
          [](const std::vector<torch::Tensor>& parameters, const torch::Tensor& inputs) {
            return torch::cat({inputs * parameters[0], inputs * parameters[1]}, 1);
          },
          [](const Custom::Shape& shape) { return Custom::Shape{2 * shape[0]}; }};
}

const std::vector<Architecture>& small_models() {
  static const std::vector<Architecture> all{
      {.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}},
      {.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}, .loss = Loss::kSquaredError},
      {.input_shape = {4}, .outputs = 3, .layers = {Linear{4, 5}, Relu{}, Linear{5, 3}}},
      {.input_shape = {2, 2, 3}, .outputs = 3, .layers = {Flatten{}, Linear{12, 3}}},
      {.input_shape = {2, 4, 3}, .outputs = 2, .layers = {Conv2d{2, 3, 3, 1}, Flatten{}, Linear{36, 2}}},
      {.input_shape = {1, 5, 4}, .outputs = 2, .layers = {Conv2d{1, 2, 3, 0}, Flatten{}, Linear{12, 2}}},
      {.input_shape = {1, 3, 3}, .outputs = 2, .layers = {Conv2d{1, 2, 1, 2}, Flatten{}, Linear{98, 2}}},
      {.input_shape = {4, 3, 3}, .outputs = 2, .layers = {GroupNorm{4, 4}, Flatten{}, Linear{36, 2}}},
      {.input_shape = {4, 3, 3}, .outputs = 2, .layers = {GroupNorm{2, 4}, Flatten{}, Linear{36, 2}}},
      {.input_shape = {4, 3, 3}, .outputs = 2, .layers = {GroupNorm{1, 4}, Flatten{}, Linear{36, 2}}},
      {.input_shape = {2, 5, 5},
       .outputs = 2,
       .layers = {Conv2d{2, 2, 3, 1}, AveragePool{2}, Flatten{}, Linear{8, 2}}},
      {.input_shape = {2, 5, 7},
       .outputs = 2,
       .layers = {Conv2d{2, 2, 3, 1}, MaxPool{2}, Relu{}, Flatten{}, Linear{12, 2}}},
      {.input_shape = {1, 6, 6},
       .outputs = 3,
       .layers = {Conv2d{1, 4, 3, 1}, GroupNorm{4, 4}, Relu{}, AveragePool{2}, Conv2d{4, 4, 3, 1},
                  GroupNorm{1, 4}, Relu{}, AveragePool{3}, Flatten{}, Linear{4, 3}}},
      {.input_shape = {3, 2, 2}, .outputs = 2, .layers = {BatchNorm{3}, Flatten{}, Linear{12, 2}}},
      {.input_shape = {3}, .outputs = 2, .layers = {doubling(), Linear{6, 2}}},
  };
  return all;
}

TEST(Gradient, AgreesWithFiniteDifferencesForEveryLayer) {
  for (std::size_t i = 0; i < small_models().size(); ++i) {
    SCOPED_TRACE("model " + std::to_string(i));
    expect_true_gradient(small_models()[i], 3);
    expect_true_gradient(small_models()[i], 1);
  }
}

TEST(Gradient, IsTheMeanOverExamples) {
  const Model model(small_models().back(), torch::kFloat64);
  const Batch batch = random_batch(model, 4);
  const Params at = random_params(model);
  Params mean = zeros_like(at);
  for (std::int64_t i = 0; i < 4; ++i)
    mean.add_scaled(0.25, model.gradient(at, batch.select(torch::tensor({i}))));
  EXPECT_LE(norm(mean - model.gradient(at, batch)), 1e-14 * norm(mean));
}

TEST(Gradient, IsTakenEvenWhereGradientsAreSwitchedOff) {
  const torch::NoGradGuard off;
  const Model model(small_models().front(), torch::kFloat64);
  EXPECT_GT(norm(model.gradient(random_params(model), random_batch(model, 3))), 0);
}

TEST(Gradient, HoldsNoGraphUnlessAsked) {
  const Model model(small_models().front(), torch::kFloat64);
  const Params at = random_params(model);
  Batch batch = random_batch(model, 3);
  EXPECT_FALSE(model.gradient(at, batch).flat().requires_grad());
  EXPECT_TRUE(model.gradient(at, batch, Graph::kKeep).flat().requires_grad());
  EXPECT_FALSE(at.flat().requires_grad());
}

// What methods that match gradients of synthetic data need: d/d(inputs) of <direction, gradient(inputs)>.
TEST(Gradient, CanBeDifferentiatedWhenItsGraphIsKept) {
  for (std::size_t i = 0; i < small_models().size(); ++i) {
    SCOPED_TRACE("model " + std::to_string(i));
    const Model model(small_models()[i], torch::kFloat64);
    const Params at = random_params(model, 2), direction = random_params(model, 3);
    const Batch batch = random_batch(model, 2);
    Batch leaf{batch.inputs.clone().requires_grad_(), batch.targets};
    const torch::Tensor match = (model.gradient(at, leaf, Graph::kKeep).flat() * direction.flat()).sum();
    const torch::Tensor slope = torch::autograd::grad({match}, {leaf.inputs}).front();
    const torch::Tensor expected =
        central_differences(batch.inputs, [&] { return dot(model.gradient(at, batch), direction); });
    EXPECT_LE(largest_difference(slope, expected), 1e-6 * std::max(1.0, expected.abs().max().item<double>()));
  }
}

TEST(Loss, CanBeDifferentiatedInParametersAndInputs) {
  const Model model(small_models().back(), torch::kFloat64);
  const Batch batch = random_batch(model, 2);
  const Params at = random_params(model);
  const Params leaf(model.layout(), at.flat().clone().requires_grad_());
  const Batch inputs{batch.inputs.clone().requires_grad_(), batch.targets};
  const auto slopes = torch::autograd::grad({model.loss(leaf, inputs)}, {leaf.flat(), inputs.inputs});
  EXPECT_LE(largest_difference(slopes[0], model.gradient(at, batch).flat()), 1e-14);
  const torch::Tensor expected =
      central_differences(batch.inputs, [&] { return model.loss(at, batch).item<double>(); });
  EXPECT_LE(largest_difference(slopes[1], expected), 1e-7);
}

}  // namespace
}  // namespace fedarena
