// Gradients in the inputs of functions of the gradient: against differentiating twice, against finite
// differences, and what workers and micro-batches must not change.
#include "harness/gradients/engine/input_gradient.hpp"

#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/zoo.hpp"
#include "tests/harness/gradients/one_at_a_time.hpp"

namespace fedarena {
namespace {

// Ordinary weights: shifts of normalisations are not zero.
Params weights_of(const Model& model, std::uint64_t seed) {
  Stream stream({.seed = seed});
  return model.initial(stream) + 0.05 * random_params(model, seed);
}

Compute::Slope constant(const Params& direction) {
  return [&direction](const Params&) { return direction; };
}

// What a pass of tangents gives, and what differentiating twice gives, for a random direction.
void expect_second_derivatives(const Architecture& architecture, const WorkPool& pool, std::int64_t count,
                               std::uint64_t seed) {
  const Model model(architecture, torch::kFloat64);
  ASSERT_EQ(has_second_pass(model), !has_custom_layers(architecture));
  const Params at = weights_of(model, seed), direction = random_params(model, seed + 1);
  const Batch batch = random_batch(model, count, seed + 2);
  const torch::Tensor actual = GradientEngine(model, pool).input_gradient(at, batch, constant(direction));
  const torch::Tensor expected = input_gradient_by_autograd(model, at, direction, batch);
  ASSERT_EQ(actual.sizes(), batch.inputs.sizes());
  EXPECT_GT(expected.norm().item<double>(), 0);
  EXPECT_LE(relative_error(actual, expected), 1e-9) << "seed " << seed;
}

// The ConvNet, small: its second convolution goes by tiles, its first does not. 9 micro-batches of 16 and one
// example more are cut unevenly.
Architecture small_convnet() {
  return build_model("convnet", {{"width", 16}, {"depth", 2}}, {.shape = {3, 32, 32}, .outputs = 4});
}

using InputGradient = ByEither;
FEDARENA_BY_EITHER(InputGradient);
// What is about workers and micro-batches alone, by the CPU.
using InputGradients = WithPools;

TEST_P(InputGradient, IsExactForEveryModelOfTheZoo) {
  for (const ModelInfo& info : model_zoo()) {
    SCOPED_TRACE(info.name);
    for (const std::vector<std::int64_t>& shape : zoo_images()) {
      expect_second_derivatives(zoo_architecture(info, shape), two, 3, 21);
    }
  }
}

TEST_P(InputGradient, IsExactForEveryNormalisationOfTheConvNet) {
  for (const char* norm : {"instance", "layer", "none"}) {
    SCOPED_TRACE(norm);
    expect_second_derivatives(
        build_model("convnet", {{"width", 20}, {"norm", norm}}, {.shape = {3, 24, 20}, .outputs = 10}), two,
        5, 22);
  }
}

// The images themselves have many channels, and no tangents.
TEST_P(InputGradient, IsExactForAWideConvolutionOfTheInputs) {
  expect_second_derivatives(
      {.input_shape = {16, 6, 7},
       .outputs = 3,
       .layers = {Conv2d{16, 18, 3, 1}, GroupNorm{3, 18}, Relu{}, Flatten{}, Linear{756, 3}}},
      two, 5, 23);
}

TEST_P(InputGradient, IsExactForRandomArchitectures) {
  int by_tiles = 0, connected = 0;
  for (std::uint64_t seed = 1; seed <= (test::long_tests() ? 500U : 250U); ++seed) {
    const Architecture architecture = RandomArchitecture(seed).images_or_features();
    expect_second_derivatives(architecture, two, 4, 100 * seed);
    for (const Layer& layer : architecture.layers) {
      const auto* conv = std::get_if<Conv2d>(&layer);
      by_tiles +=
          conv != nullptr && conv->kernel == 3 && conv->stride == 1 && conv->in >= 16 && conv->out >= 16;
      connected += std::holds_alternative<Shortcut>(layer);
    }
  }
  EXPECT_GE(by_tiles, 4);  // of each kind there were enough
  EXPECT_GE(connected, 20);
}

// D(g) = half the squared distance from a fixed point, hence the slope g - point.
struct Distance {
  Params point;

  double of(const Params& gradient) const { return 0.5 * dot(gradient - point, gradient - point); }
  Params slope(const Params& gradient) const { return gradient - point; }
};

void expect_true_slope(Architecture architecture) {
  const WorkPool pool(1, use_one_torch_thread);
  const Trial trial(std::move(architecture), torch::kFloat64, pool);
  const Distance distance{random_params(trial.model, 5)};
  const Batch batch = trial.draw(3);
  const torch::Tensor actual = trial.engine.input_gradient(
      trial.at, batch, [&](const Params& gradient) { return distance.slope(gradient); });
  const torch::Tensor expected =
      central_differences(batch.inputs, [&] { return distance.of(trial.model.gradient(trial.at, batch)); });
  EXPECT_GT(expected.norm().item<double>(), 1e-3);
  EXPECT_LE(relative_error(actual, expected), 1e-6);
}

TEST_P(InputGradient, IsTheDerivativeOfADistanceForEveryKindOfLayer) {
  using Layers = std::vector<Layer>;
  const std::vector<std::pair<std::string, Layers>> kinds{
      {"linear", {Flatten{}, Linear{72, 3}}},
      {"relu", {Flatten{}, Linear{72, 5}, Relu{}, Linear{5, 3}}},
      {"relu first", {Relu{}, Flatten{}, Linear{72, 3}}},
      {"average pool", {Conv2d{2, 3, 3, 1}, AveragePool{2}, Flatten{}, Linear{27, 3}}},
      {"average pool with a remainder, first", {AveragePool{4}, Flatten{}, Linear{2, 3}}},
      {"max pool", {Conv2d{2, 3, 3, 1}, Relu{}, MaxPool{2}, Flatten{}, Linear{27, 3}}},
      {"max pool with a remainder, first", {MaxPool{4}, Flatten{}, Linear{2, 3}}},
      {"1x1 convolution", {Conv2d{2, 3, 1, 0}, Flatten{}, Linear{108, 3}}},
      {"2x2 convolution", {Conv2d{2, 3, 2, 1}, Relu{}, Flatten{}, Linear{147, 3}}},
      {"3x3 convolution", {Conv2d{2, 3, 3, 1}, Relu{}, Conv2d{3, 4, 3, 1}, Flatten{}, Linear{144, 3}}},
      {"5x5 convolution", {Conv2d{2, 3, 5, 2}, Relu{}, Flatten{}, Linear{108, 3}}},
      {"wide convolution", {Conv2d{2, 16, 1, 0}, Relu{}, Conv2d{16, 17, 3, 1}, Flatten{}, Linear{612, 3}}},
      {"group norm", {Conv2d{2, 4, 3, 1}, GroupNorm{2, 4}, Flatten{}, Linear{144, 3}}},
      {"group norm first", {GroupNorm{2, 2}, Relu{}, Flatten{}, Linear{72, 3}}},
      {"group norm, relu", {Conv2d{2, 4, 3, 1}, GroupNorm{4, 4}, Relu{}, Flatten{}, Linear{144, 3}}},
      {"group norm, relu, pool",
       {Conv2d{2, 4, 3, 1}, GroupNorm{1, 4}, Relu{}, AveragePool{2}, Flatten{}, Linear{36, 3}}},
      {"group norm of features", {Flatten{}, Linear{72, 8}, GroupNorm{2, 8}, Linear{8, 3}}}};
  for (const auto& [name, layers] : kinds) {
    for (const Loss loss : {Loss::kCrossEntropy, Loss::kSquaredError}) {
      SCOPED_TRACE(name + (loss == Loss::kCrossEntropy ? ", cross-entropy" : ", squared error"));
      expect_true_slope({.input_shape = {2, 6, 6}, .outputs = 3, .layers = layers, .loss = loss});
    }
  }
}

TEST_P(InputGradient, TakesLabelsUnderTheSquaredError) {
  const Trial trial({.input_shape = {5}, .outputs = 3, .layers = {Linear{5, 3}}, .loss = Loss::kSquaredError},
                    torch::kFloat64, one);
  const Params direction = random_params(trial.model, 5);
  const Batch batch{trial.draw(4).inputs, torch::tensor({0, 2, 1, 2})};
  EXPECT_LE(relative_error(trial.moved(batch, direction),
                           input_gradient_by_autograd(trial.model, trial.at, direction, batch)),
            1e-12);
}

// x -> w x with squared error and one example: g = (w x - y) x, so d(v g)/dx = v (2 w x - y).
TEST_P(InputGradient, IsWhatOneWritesByHandForOneWeight) {
  const Model model({.input_shape = {1}, .outputs = 1, .layers = {Linear{1, 1}}, .loss = Loss::kSquaredError},
                    torch::kFloat64);
  const Params at(model.layout(), torch::tensor({3., 0.}, torch::kFloat64));
  const Params direction(model.layout(), torch::tensor({5., 0.}, torch::kFloat64));
  const Batch batch{torch::tensor({{2.}}, torch::kFloat64), torch::tensor({{7.}}, torch::kFloat64)};
  EXPECT_DOUBLE_EQ(GradientEngine(model, one).input_gradient(at, batch, constant(direction)).item<double>(),
                   25);
}

// A ReLU whose input is zero up to rounding may fall to either side, in any computation in single precision,
// and then moves its example's gradient by some thousandths: about one example of a hundred. Ten examples
// have more than two of them with a probability below one in a thousand.
TEST_P(InputGradient, InSingleIsThatInDoubleToRounding) {
  for (const char* norm : {"instance", "layer", "none"}) {
    const Architecture architecture =
        build_model("convnet", {{"norm", norm}}, {.shape = {3, 32, 32}, .outputs = 10});
    const Model single(architecture, torch::kFloat32), twice(architecture, torch::kFloat64);
    const Params at = weights_of(single, 31), direction = random_params(single, 32);
    const Batch batch = random_batch(single, 10, 33);
    const auto widen = [&](const Params& params) {
      return Params(twice.layout(), params.flat().to(torch::kFloat64));
    };
    const Params wide_direction = widen(direction);
    const torch::Tensor actual = GradientEngine(single, two).input_gradient(at, batch, constant(direction));
    const torch::Tensor expected =
        GradientEngine(twice, two)
            .input_gradient(widen(at), {batch.inputs.to(torch::kFloat64), batch.targets},
                            constant(wide_direction));
    ASSERT_EQ(actual.scalar_type(), torch::kFloat32);
    int far = 0;
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const double error = relative_error(actual[i], expected[i]);
      EXPECT_LE(error, 0.05) << norm;
      far += error > 1e-4;
    }
    EXPECT_LE(far, 2) << norm;
  }
}

TEST_F(InputGradients, DoesNotDependOnHowTheBatchIsCut) {
  const Model model(small_convnet(), torch::kFloat64);
  const GradientEngine engine(model, two);
  const Params at = weights_of(model, 41), direction = random_params(model, 42);
  for (const std::int64_t count : sizes_around(engine.micro_batch())) {
    const Batch batch = random_batch(model, count, 43);
    EXPECT_LE(relative_error(engine.input_gradient(at, batch, constant(direction)),
                             input_gradient_by_autograd(model, at, direction, batch)),
              1e-9)
        << count;
  }
}

TEST_F(InputGradients, DoesNotDependOnWhatTheFirstPassMayKeep) {
  const Model model(small_convnet(), torch::kFloat64);
  const std::int64_t micro_batch = GradientEngine(model, one).micro_batch();
  const Params at = weights_of(model, 44), direction = random_params(model, 45);
  const Batch batch = random_batch(model, 3 * micro_batch + 5, 46);
  const torch::Tensor expected = GradientEngine(model, two).input_gradient(at, batch, constant(direction));
  for (const std::int64_t kept : {std::int64_t{1}, 2 * micro_batch * model.activations()}) {
    const GradientEngine engine(model, two, kept);
    EXPECT_LE(relative_error(engine.input_gradient(at, batch, constant(direction)), expected), 1e-12);
  }
}

TEST_F(InputGradients, GivesTheSameBitsForAnyNumberOfWorkers) {
  const Model model(small_convnet(), torch::kFloat32);
  const std::int64_t micro_batch = GradientEngine(model, one).micro_batch();
  const Params at = weights_of(model, 51);
  const Distance distance{random_params(model, 52)};
  const Batch batch = random_batch(model, 4 * micro_batch + 3, 53);
  const auto slope = [&](const Params& gradient) { return distance.slope(gradient); };
  for (const std::int64_t kept : {2 * micro_batch * model.activations(), std::int64_t{1'000'000'000}}) {
    const torch::Tensor expected = GradientEngine(model, one, kept).input_gradient(at, batch, slope);
    for (const WorkPool* pool : {&one, &two, &three}) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        EXPECT_TRUE(
            torch::equal(GradientEngine(model, *pool, kept).input_gradient(at, batch, slope), expected));
      }
    }
  }
}

TEST_P(InputGradient, AsksOnceForTheSlopeAtTheMeanGradient) {
  const Architecture gated{
      .input_shape = {6},
      .outputs = 2,
      .layers = {Custom{{{6}},
                        [](const std::vector<torch::Tensor>& parameters, const torch::Tensor& inputs) {
                          return inputs * parameters[0];
                        },
                        [](const Custom::Shape& shape) { return shape; }},
                 Linear{6, 2}}};
  for (const auto& architecture : {small_convnet(), gated}) {
    const Trial trial(architecture, torch::kFloat32, three);
    for (const std::int64_t count : sizes_around(trial.engine.micro_batch())) {
      const Batch batch = trial.draw(count);
      const Params expected = trial.mean(batch);
      std::vector<Params> seen;
      trial.engine.input_gradient(trial.at, batch, [&](const Params& gradient) {
        seen.push_back(gradient);
        return gradient;
      });
      ASSERT_EQ(seen.size(), 1U);
      EXPECT_TRUE(torch::equal(seen.front().flat(), expected.flat())) << count;
    }
  }
}

// Derivative along one direction in input space by central differences of <direction, mean gradient>.
double slope_along(const Trial& trial, const Batch& batch, const Params& direction,
                   const torch::Tensor& along) {
  constexpr double kWidth = 1e-5;
  const auto value = [&](double step) {
    return dot(direction, trial.mean({batch.inputs + step * along, batch.targets}));
  };
  return (value(kWidth) - value(-kWidth)) / (2 * kWidth);
}

// Normalises over the examples of a micro-batch, or scales by a parameter: no rules, and cut all the same.
TEST_P(InputGradient, DifferentiatesTwiceThroughLayersWithoutRules) {
  const std::vector<Architecture> architectures{
      {.input_shape = {4}, .outputs = 2, .layers = {Linear{4, 4}, gate(), Linear{3, 2}}},
      {.input_shape = {2, 4, 4},
       .outputs = 2,
       .layers = {Conv2d{2, 3, 3, 1}, BatchNorm{3}, Flatten{}, Linear{48, 2}}}};
  for (const Architecture& architecture : architectures) {
    const Trial trial(architecture, torch::kFloat64, two);
    ASSERT_FALSE(has_second_pass(trial.model));
    const Params direction = random_params(trial.model, 61);
    for (const std::int64_t count : {std::int64_t{7}, trial.engine.micro_batch() + 9}) {
      const Batch batch = trial.draw(count);
      const torch::Tensor actual = trial.moved(batch, direction);
      ASSERT_EQ(actual.sizes(), batch.inputs.sizes());
      for (const std::uint64_t seed : {1, 2, 3}) {
        const torch::Tensor along = trial.draw(count, seed).inputs;
        const double expected = slope_along(trial, batch, direction, along);
        EXPECT_NEAR((actual * along).sum().item<double>(), expected, 1e-6 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST_P(InputGradient, IsZeroInIndices) {
  const Trial trial({.input_shape = {3}, .outputs = 2, .layers = {Embedding{4, 5}, Flatten{}, Linear{15, 2}}},
                    torch::kFloat64, two);
  const Batch batch = trial.draw(6);
  EXPECT_TRUE(
      torch::equal(trial.moved(batch, random_params(trial.model, 5)), torch::zeros_like(batch.inputs)));
}

TEST_P(InputGradient, LeavesTheBatchAsItIs) {
  const Trial trial(small_convnet(), torch::kFloat32, two);
  const Batch batch = trial.draw(5);
  const torch::Tensor before = batch.inputs.clone();
  const torch::Tensor result = trial.moved(batch, random_params(trial.model, 5));
  EXPECT_TRUE(torch::equal(batch.inputs, before));
  EXPECT_FALSE(result.requires_grad());
}

TEST_P(InputGradient, RefusesNoExamplesAndSlopesOfAnotherLayout) {
  const Trial trial(small_convnet(), torch::kFloat32, one);
  EXPECT_THROW(trial.moved(trial.draw(0), trial.at), Bug);
  const Model other({.input_shape = {2}, .outputs = 1, .layers = {Linear{2, 1}}}, torch::kFloat32);
  EXPECT_THROW(trial.moved(trial.draw(2), random_params(other)), Error);
}

TEST_P(InputGradient, PassesOnWhatTheSlopeThrows) {
  const Trial trial(small_convnet(), torch::kFloat32, two);
  const auto failing = [](const Params&) -> Params { throw Interrupted(); };
  EXPECT_THROW(trial.engine.input_gradient(trial.at, trial.draw(2), failing), Interrupted);
}

}  // namespace
}  // namespace fedarena
