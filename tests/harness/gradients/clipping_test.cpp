// The bound of clipped contributions on extreme gradients, one example at a time and among others.
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/gradients/one_at_a_time.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

using Clipping = ByEither;
FEDARENA_BY_EITHER(Clipping);

// One of each way to take norms: affine, held and ghost convolution, normalisation, nothing cancelled by
// softmax.
std::vector<Architecture> victims() {
  return {
      {.input_shape = {5}, .outputs = 3, .layers = {Linear{5, 3}}, .loss = Loss::kSquaredError},
      {.input_shape = {5}, .outputs = 3, .layers = {Linear{5, 8}, Relu{}, Linear{8, 3}}},
      {.input_shape = {2, 6, 6},
       .outputs = 2,
       .layers = {Conv2d{2, 3, 3, 1}, Relu{}, AveragePool{2}, Flatten{}, Linear{27, 2}},
       .loss = Loss::kSquaredError},
      {.input_shape = {16, 3, 3},
       .outputs = 2,
       .layers = {Conv2d{16, 32, 3, 1}, GroupNorm{4, 32}, Flatten{}, Linear{288, 2}},
       .loss = Loss::kSquaredError},
      {.input_shape = {16, 3, 3},
       .outputs = 2,
       .layers = {Conv2d{16, 32, 3, 1}, Relu{}, Flatten{}, Linear{288, 2}},
       .loss = Loss::kSquaredError},
  };
}

const std::vector<double> kMagnitudes{0,    1e-45, 1e-39, 1e-30, 1e-15, 1e-7, 1,      1e7,  1e15,
                                      1e18, 1e19,  1e20,  1e30,  3e37,  1e38, 3.4e38, kNan, kInfinity};

// Inputs, targets and parameters of every magnitude: each alone gives a contribution within the bound.
TEST_P(Clipping, NeverExceedsTheBound) {
  for (const Architecture& architecture : victims()) {
    for (const auto type : {torch::kFloat32, torch::kFloat64}) {
      const Model model(architecture, type);
      const GradientEngine engine(model, two);
      for (const double magnitude : kMagnitudes) {
        for (const double scale : {1e-20, 1.0, 1e12}) {
          Params at = random_params(model);
          at *= scale;
          Batch batch = random_batch(model, 1);
          batch.inputs *= magnitude;
          for (const double bound : {1e-30, 1e-9, 1.0, 1e20}) {
            const ClippedSum result = engine.clipped_gradient_sum(at, bound, 1, slices_of(batch));
            // The slack of the contract is inside the bound: none is needed here.
            EXPECT_LE(norm(result.sum), bound) << type << " inputs " << magnitude << " parameters " << scale;
          }
        }
      }
    }
  }
}

TEST_P(Clipping, ReachesTheBound) {
  for (const Architecture& architecture : victims()) {
    const Trial trial(architecture, torch::kFloat32, two);
    const Batch batch = trial.draw(1);
    for (const double bound : {1e-20, 1e-9, 1e-3}) {
      const ClippedSum result = trial.clipped(bound, batch);
      EXPECT_GE(norm(result.sum), bound * (1 - 1e-5));
      EXPECT_EQ(result.clipped, 1);
    }
  }
}

// The others' contributions stay what they are when some examples are extreme.
TEST_P(Clipping, DropsGradientsThatAreNotFiniteAndKeepsTheOthers) {
  for (const Architecture& architecture : victims()) {
    const Trial trial(architecture, torch::kFloat32, two);
    const auto count = static_cast<std::int64_t>(kMagnitudes.size());
    Batch batch = trial.draw(count);
    std::int64_t dropped = 0;
    for (std::int64_t i = 0; i < count; ++i) batch.inputs[i] *= kMagnitudes[static_cast<std::size_t>(i)];
    const std::vector<torch::Tensor> gradients = separate_gradients(trial.model, trial.at, batch);
    for (const torch::Tensor& gradient : gradients) dropped += !gradient.isfinite().all().item<bool>();
    EXPECT_GE(dropped, 2);
    const ClippedSum result = trial.clipped(1, batch);
    EXPECT_LE(relative_error(result.sum.flat(), clipped_by_hand(gradients, 1)), 1e-5);
    EXPECT_GE(result.clipped, dropped);
  }
}

TEST_P(Clipping, LeavesAZeroGradientAtZero) {
  const Trial trial({.input_shape = {4}, .outputs = 2, .layers = {Linear{4, 2}}, .loss = Loss::kSquaredError},
                    torch::kFloat32, two);
  Batch batch = trial.draw(3);
  batch.targets = trial.model.forward(trial.at, batch.inputs);
  for (const double bound : {0.0, 1e-20, 1.0, kInfinity}) {
    const ClippedSum result = trial.clipped(bound, batch);
    EXPECT_EQ(norm(result.sum), 0);
    EXPECT_EQ(result.clipped, 0);
  }
}

// Squares of these overflow or vanish in single precision.
TEST_P(Clipping, TakesNormsThatSinglePrecisionCannotSquare) {
  const Model model({.input_shape = {2}, .outputs = 1, .layers = {Linear{2, 1}}, .loss = Loss::kSquaredError},
                    torch::kFloat32);
  const Params at = Params::zeros(model.layout(), model.options());
  for (const double size : {1e-30, 1e25}) {
    // Gradient (-3 size, -4 size, -1), or without its bias nearly (-3, -4) times size.
    const Batch batch{torch::tensor({{3.0, 4.0}}).mul(size).to(torch::kFloat32), torch::tensor({{1.0F}})};
    const double length = std::sqrt(25 * size * size + 1);
    const ClippedSum result =
        GradientEngine(model, two).clipped_gradient_sum(at, length / 2, 1, slices_of(batch));
    EXPECT_NEAR(norm(result.sum), length / 2, 1e-5 * length);
    EXPECT_NEAR(result.sum.flat()[0].item<double>(), -1.5 * size, 1e-5 * size);
  }
}

// Sensitivity: with one example more, or one replaced, the sum moves by at most the bound, or twice the
// bound.
TEST_P(Clipping, BoundsTheInfluenceOfAnExample) {
  for (const Architecture& architecture : victims()) {
    const Trial trial(architecture, torch::kFloat64, two);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Batch batch = trial.draw(6, seed);
      Batch replaced{batch.inputs.clone(), batch.targets};
      replaced.inputs[5] *= -1e3;
      const Params all = trial.clipped(0.5, batch).sum;
      const Params fewer = trial.clipped(0.5, slices_of(batch)(0, 5)).sum;
      const Params other = trial.clipped(0.5, replaced).sum;
      EXPECT_LE(norm(all - fewer), 0.5 + 1e-12);
      EXPECT_LE(norm(all - other), 1.0 + 1e-12);
    }
  }
}

TEST_P(Clipping, OfNothingIsZero) {
  const Trial trial(victims().front(), torch::kFloat32, two);
  const ClippedSum result = trial.engine.clipped_gradient_sum(trial.at, 1, 0, [](std::int64_t, std::int64_t) {
    ADD_FAILURE();
    return Batch{};
  });
  EXPECT_EQ(norm(result.sum), 0);
  EXPECT_EQ(result.clipped, 0);
}

TEST_P(Clipping, RefusesBoundsThatAreNone) {
  const Trial trial(victims().front(), torch::kFloat32, two);
  const Batch batch = trial.draw(1);
  EXPECT_THROW(trial.clipped(-1, batch), Bug);
  EXPECT_THROW(trial.clipped(kNan, batch), Bug);
  EXPECT_THROW(trial.engine.clipped_gradient_sum(trial.at, 1, -1, slices_of(batch)), Bug);
}

TEST_P(Clipping, PassesOnWhatTheSourceThrows) {
  const Trial trial(victims().front(), torch::kFloat32, two);
  const auto failing = [](std::int64_t, std::int64_t) -> Batch { throw Interrupted(); };
  EXPECT_THROW(trial.engine.clipped_gradient_sum(trial.at, 1, 3, failing), Interrupted);
}

}  // namespace
}  // namespace fedarena
