// Gradients of the network of DLG on tiny images: what they give away, and what noise leaves of that.
#include "harness/attack/gradient_inversion.hpp"

#include <cmath>
#include <vector>

#include "harness/attack/image_quality.hpp"
#include "harness/models/zoo.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

class GradientInversion : public ::testing::Test {
 protected:
  static constexpr std::int64_t kSide = 8, kClasses = 4;

  GradientInversion() { at = model.initial(stream); }

  Batch pictures(std::int64_t count) {
    Batch batch{uniform(stream, model.input_shape(count), 0, 1), torch::arange(count) % kClasses};
    return batch;
  }
  Reconstruction inverted(const Params& gradient, std::int64_t count, Inversion method) const {
    return invert({model, at, gradient, count}, method, {.iterations = 60}, Stream({.seed = 9}), stop);
  }

  Model model{build_model("dlg-lenet", {}, {.shape = {1, kSide, kSide}, .outputs = kClasses}),
              torch::kFloat64};
  Stream stream{{.seed = 3}};
  Params at;
  std::atomic<bool> stop = false;
};

TEST_F(GradientInversion, RecoversAnImageAndItsLabel) {
  for (const Inversion method : {Inversion::kDlg, Inversion::kIdlg}) {
    Batch truth = pictures(1);
    truth.targets.fill_(2);
    const Reconstruction found = inverted(model.gradient(at, truth), 1, method);
    EXPECT_LT(image_quality(found.inputs[0], truth.inputs[0]).mse, 1e-3);
    EXPECT_EQ(found.labels.item<std::int64_t>(), 2);
    EXPECT_LT(found.distance, 1e-6);
  }
}

// In an order of its own.
TEST_F(GradientInversion, RecoversABatch) {
  const Batch truth = pictures(3);
  const Reconstruction found = inverted(model.gradient(at, truth), 3, Inversion::kDlg);
  std::vector<std::vector<double>> mse(3, std::vector<double>(3));
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) mse[i][j] = image_quality(found.inputs[j], truth.inputs[i]).mse;
  }
  const std::vector<std::int64_t> match = best_assignment(mse);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_LT(mse[i][match[i]], kRecognisable);
    EXPECT_EQ(found.labels[match[i]].item<std::int64_t>(), truth.targets[i].item<std::int64_t>());
  }
}

TEST_F(GradientInversion, FindsNothingInNoise) {
  const Batch truth = pictures(1);
  Params noisy = model.gradient(at, truth);
  noisy += (norm(noisy) / std::sqrt(static_cast<double>(noisy.flat().numel()))) *
           Params(noisy.layout(), normal(stream, {noisy.flat().numel()}));
  const Reconstruction found = inverted(noisy, 1, Inversion::kDlg);
  EXPECT_GT(image_quality(found.inputs[0], truth.inputs[0]).mse, 5 * kRecognisable);
  EXPECT_TRUE(found.inputs.isfinite().all().item<bool>());
}

TEST_F(GradientInversion, IsTheSameForTheSameStream) {
  const Params gradient = model.gradient(at, pictures(1));
  EXPECT_TRUE(torch::equal(inverted(gradient, 1, Inversion::kDlg).inputs,
                           inverted(gradient, 1, Inversion::kDlg).inputs));
}

TEST_F(GradientInversion, ReadsTheLabelOfOneExampleOffItsGradient) {
  const Batch truth = pictures(kClasses);
  for (std::int64_t i = 0; i < kClasses; ++i) {
    const Batch one = truth.select(torch::tensor({i}));
    EXPECT_EQ(label_of(model, model.gradient(at, one)), i);
  }
  expect_refused("the gradient is of 4",
                 [&] { inverted(model.gradient(at, truth), kClasses, Inversion::kIdlg); });
}

TEST_F(GradientInversion, ReadsNoLabelOffAModelWithoutALastBias) {
  const Model without({.input_shape = {2}, .outputs = 6, .layers = {Embedding{5, 3}, Flatten{}}},
                      torch::kFloat64);
  const Params gradient = Params::zeros(without.layout(), torch::kFloat64);
  expect_refused("last bias", [&] { label_of(without, gradient); });
}

// Ends of ways of one iteration: the nearest of them, and none after one that arrived.
TEST_F(GradientInversion, KeepsTheNearestOfItsStarts) {
  const Params gradient = model.gradient(at, pictures(1));
  const auto from = [&](std::uint64_t seed, std::int64_t starts, std::int64_t iterations) {
    return invert({model, at, gradient, 1}, Inversion::kDlg, {iterations, starts}, Stream({.seed = seed}),
                  stop);
  };
  int nearer = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Reconstruction one = from(seed, 1, 1), three = from(seed, 3, 1);
    EXPECT_EQ(three.iterations, 3);
    EXPECT_LE(three.distance, one.distance);
    nearer += three.distance < one.distance ? 1 : 0;
  }
  EXPECT_GT(nearer, 0);  // all eight times the first of three is the nearest: 3^-8
  EXPECT_EQ(from(9, 3, 60).iterations, from(9, 1, 60).iterations);
}

TEST_F(GradientInversion, StopsWhereTheUserStopsIt) {
  const Params gradient = model.gradient(at, pictures(1));
  stop = true;
  EXPECT_THROW(inverted(gradient, 1, Inversion::kDlg), Interrupted);
}

}  // namespace
}  // namespace fedarena
