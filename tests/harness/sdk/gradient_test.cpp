// Gradients against central finite differences in double precision, for every kind of layer and loss.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fedarena/custom_layers.hpp"
#include "fedarena/layers.hpp"
#include "fedarena/matching.hpp"
#include "fedarena/model.hpp"
#include "fedarena/random.hpp"

#include "harness/sdk/matching_rows.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

// Products with two learnt vectors, one behind the other.
Custom doubling() {
  return {{{3}, {3}},
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
      {.input_shape = {6},
       .outputs = 3,
       .layers = {Linear{6, 4}, reshape({1, 2, 2}), leaky_relu(0.2), upsample(2), Conv2d{1, 1, 3, 0}, tanh(),
                  Flatten{}, sigmoid(), Linear{4, 3}}},
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

TEST(Gradient, OfClassProbabilitiesAgreesWithFiniteDifferences) {
  const Model model(small_models()[2], torch::kFloat64);
  Batch batch = random_batch(model, 3);
  batch.targets = torch::softmax(random_batch(model, 3, 7).inputs.narrow(1, 0, 3), 1);
  const Params at = random_params(model);
  const torch::Tensor expected =
      central_differences(at.flat(), [&] { return model.loss(at, batch).item<double>(); });
  EXPECT_LE(largest_difference(model.gradient(at, batch).flat(), expected), 1e-7);
}

// q = (1/2, 1/4, 1/4), whose logarithms are -1, -2 and -2 in base two.
TEST(Loss, OfClassProbabilitiesIsTheirCrossEntropy) {
  const Model model({.input_shape = {3}, .outputs = 3, .layers = {Linear{3, 3}}}, torch::kFloat64);
  const torch::Tensor outputs = torch::tensor({{0.5, 0.25, 0.25}}, torch::kFloat64).log();
  const torch::Tensor targets = torch::tensor({{0.5, 0.375, 0.125}}, torch::kFloat64);
  EXPECT_NEAR(model.losses(outputs, targets).item<double>(), 1.5 * std::log(2.0), 1e-15);
}

TEST(Loss, OfCertainClassesIsThatOfLabels) {
  const Model model(small_models()[2], torch::kFloat32);
  const Batch hard = random_batch(model, 9);
  const Batch soft{hard.inputs, torch::one_hot(hard.targets, 3).to(torch::kFloat32)};
  const Params at = random_params(model);
  const torch::Tensor outputs = model.forward(at, hard.inputs);
  EXPECT_TRUE(model.losses(outputs, soft.targets).equal(model.losses(outputs, hard.targets)));
  EXPECT_TRUE(model.gradient(at, soft).flat().equal(model.gradient(at, hard).flat()));
}

TEST(CustomLayers, AreWhatTheirNamesSay) {
  const torch::Tensor x = torch::tensor({{{{-2., 0.}, {1., 3.}}}}, torch::kFloat64);
  EXPECT_TRUE(leaky_relu(0.25).forward({}, x).equal(torch::tensor({{{{-0.5, 0.}, {1., 3.}}}}, x.options())));
  const torch::Tensor larger = upsample(2).forward({}, x);
  EXPECT_TRUE(larger.equal(x.repeat_interleave(2, 2).repeat_interleave(2, 3)));
  EXPECT_EQ(upsample(2).output_shape({1, 2, 2}), (Custom::Shape{1, 4, 4}));
  EXPECT_NEAR(sigmoid().forward({}, x)[0][0][1][0].item<double>(), 1 / (1 + std::exp(-1.0)), 1e-15);
  EXPECT_NEAR(tanh().forward({}, x)[0][0][1][0].item<double>(), std::tanh(1.0), 1e-15);
  EXPECT_TRUE(reshape({4}).forward({}, x).equal(x.flatten(1)));
  EXPECT_EQ(reshape({4}).forward({}, x.narrow(0, 0, 0)).sizes(), (torch::IntArrayRef{0, 4}));
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

// A convolution, a normalisation and an affine map: tensors of four, two and one dimensions.
const Model& model() {
  static const Model kept({.input_shape = {2, 4, 4},
                           .outputs = 3,
                           .layers = {Conv2d{2, 3, 3, 1}, GroupNorm{3, 3}, Flatten{}, Linear{48, 3}}},
                          torch::kFloat64);
  return kept;
}

std::vector<GradientMatching> all_criteria() {
  std::vector<GradientMatching> all;
  for (const char* criterion : {"cosine", "squared", "cosine+squared"}) {
    for (const char* rows : {"sum", "mean"}) {
      all.push_back({.criterion = criterion, .squared_weight = 0.3, .cosine_rows = rows});
    }
  }
  return all;
}

// Equations 9, 10 and 21, number by number.
double by_hand(const Params& matched, const Params& target, const GradientMatching& how) {
  double total = 0;
  for (std::size_t tensor = 0; tensor < matched.size(); ++tensor) {
    const torch::Tensor left = matched[tensor].contiguous(), right = target[tensor].contiguous();
    const std::int64_t rows = left.dim() == 1 ? 1 : left.size(0), width = left.numel() / rows;
    double cosines = 0, squares = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      double product = 0, left_square = 0, right_square = 0;
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
        const double a = left.data_ptr<double>()[i], b = right.data_ptr<double>()[i];
        product += a * b;
        left_square += a * a;
        right_square += b * b;
        squares += (a - b) * (a - b);
      }
      cosines += 1 - product / std::sqrt(left_square * right_square);
    }
    if (how.cosine_rows == "mean") cosines /= static_cast<double>(rows);
    if (how.criterion == "cosine") total += cosines;
    if (how.criterion == "squared") total += squares;
    if (how.criterion == "cosine+squared") total += cosines + how.squared_weight * squares;
  }
  return total;
}

TEST(MatchingDistance, IsThatOfThePaper) {
  const Params matched = random_params(model(), 1), other = random_params(model(), 2);
  for (const GradientMatching& how : all_criteria()) {
    for (const Params& target : {other, 7 * other, matched}) {
      const double expected = by_hand(matched, target, how);
      EXPECT_NEAR(matching_distance(matched, target, how).value, expected, 1e-12 * (1 + expected))
          << how.criterion;
    }
  }
}

TEST(MatchingDistance, HasTheSlopeOfItsValue) {
  const Params matched = random_params(model(), 3), target = random_params(model(), 4);
  constexpr double kStep = 1e-6;
  for (const GradientMatching& how : all_criteria()) {
    const MatchingDistance distance = matching_distance(matched, target, how);
    for (std::uint64_t seed = 10; seed < 15; ++seed) {
      const Params direction = random_params(model(), seed);
      const double ahead = matching_distance(matched + kStep * direction, target, how).value;
      const double behind = matching_distance(matched - kStep * direction, target, how).value;
      EXPECT_NEAR(dot(distance.slope, direction), (ahead - behind) / (2 * kStep), 1e-6)
          << how.criterion << ", " << how.cosine_rows;
    }
  }
}

TEST(MatchingDistance, OfARowWithoutDirectionIsOneAndFlat) {
  const Params zero = zeros_like(random_params(model(), 7)), target = random_params(model(), 8);
  const GradientMatching cosine{.criterion = "cosine"};
  // Rows of the layout: 3 of the convolution, 3 of the affine map, and four vectors.
  EXPECT_DOUBLE_EQ(matching_distance(zero, target, cosine).value, 3 + 3 + 4);
  EXPECT_EQ(norm(matching_distance(zero, target, cosine).slope), 0);
  EXPECT_EQ(norm(matching_distance(target, zero, cosine).slope), 0);
  const GradientMatching squared{.criterion = "squared"};
  EXPECT_NEAR(matching_distance(zero, target, squared).value, std::pow(norm(target), 2), 1e-9);
}

TEST(MatchingDistance, TakesNoDirectionFromRounding) {
  const Params target = random_params(model(), 9);
  Params matched = random_params(model(), 11);
  matched[1].mul_(1e-16);  // the convolution's bias
  const GradientMatching cosine{.criterion = "cosine"};
  EXPECT_EQ(matching_distance(matched, target, cosine).slope[1].abs().max().item<double>(), 0);
  matched[1].mul_(1e6);
  EXPECT_GT(matching_distance(matched, target, cosine).slope[1].abs().max().item<double>(), 1);
}

TEST(MatchingDistance, IsTheSameByAllRowsAtOnce) {
  const Params matched = random_params(model(), 12), target = random_params(model(), 13),
               zero = zeros_like(matched);
  Params rounded = random_params(model(), 14);
  rounded[1].mul_(1e-16);
  for (const GradientMatching& how : all_criteria()) {
    for (const auto& [from, to] :
         {std::pair(matched, target), {zero, target}, {target, zero}, {rounded, target}}) {
      const MatchingDistance expected = matching_distance(from, to, how),
                             actual = matching_distance_by_rows(from, to, how);
      EXPECT_NEAR(actual.value, expected.value, 1e-12 * (1 + expected.value)) << how.criterion;
      EXPECT_LE(norm(actual.slope - expected.slope), 1e-12 * (1 + norm(expected.slope))) << how.criterion;
    }
  }
}

TEST(GradientMatching, IsReadByName) {
  const GradientMatching how = GradientMatching::schema().read({{"criterion", "squared"}});
  EXPECT_EQ(how.criterion, "squared");
  EXPECT_EQ(how.cosine_rows, "sum");
  EXPECT_THROW(GradientMatching::schema().read({{"criterion", "mse"}}), Error);
}

}  // namespace
}  // namespace fedarena
