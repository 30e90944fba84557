// FedD3: its kernel against networks of infinite width worked by hand, and its steps.
#include <cmath>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/autograd.h>

#include "fedarena/synthetic_sets.hpp"

#include "plugins/fedd3/tangent_kernel.hpp"
#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

const double kPi = std::acos(-1.0);

// Two inputs of mean square 1 at an angle.
double kernel_at(double angle, const fedd3::Network& network) {
  const torch::Tensor left = torch::tensor({{std::sqrt(2), 0.0}}, torch::kFloat64);
  const torch::Tensor right =
      torch::tensor({{std::sqrt(2) * std::cos(angle), std::sqrt(2) * std::sin(angle)}}, torch::kFloat64);
  return fedd3::tangent_kernel(network, left, right).item<double>();
}

TEST(TangentKernel, OfAnAffineMapIsItsInnerProduct) {
  const torch::Tensor left = torch::tensor({{1.0, 2.0, 3.0}}, torch::kFloat64);
  const torch::Tensor right = torch::tensor({{4.0, -5.0, 6.0}, {0.0, 0.0, 0.0}}, torch::kFloat64);
  const torch::Tensor kernel = fedd3::tangent_kernel({.depth = 0}, left, right);
  EXPECT_NEAR(kernel[0][0].item<double>(), 2 * 12.0 / 3 + 0.01, 1e-14);
  EXPECT_NEAR(kernel[0][1].item<double>(), 0.01, 1e-16);
}

// Without biases, inputs of mean square 1 and weights of variance 2 keep the mean square 2 in every layer.
// With the angle a: covariance (2 / pi) (sin a + (pi - a) cos a), kernel that and 2 cos a (pi - a) / pi.
TEST(TangentKernel, OfOneHiddenLayerIsArcCosine) {
  const fedd3::Network one{.depth = 1, .bias_variance = 0};
  EXPECT_NEAR(kernel_at(0, one), 4, 1e-13);
  EXPECT_NEAR(kernel_at(kPi / 2, one), 2 / kPi, 1e-14);
  EXPECT_NEAR(kernel_at(kPi / 3, one), std::sqrt(3) / kPi + 4.0 / 3, 1e-14);
  EXPECT_NEAR(kernel_at(kPi, one), 0, 1e-6);
}

// At a right angle the first layer's covariance is 2 / pi, so that the second one's angle is acos(1 / pi).
TEST(TangentKernel, OfTwoHiddenLayersGoesOnFromTheFirst) {
  const double angle = std::acos(1 / kPi), beyond = kPi - angle;
  const double covariance = 2 / kPi * (std::sin(angle) + beyond / kPi);
  EXPECT_NEAR(kernel_at(kPi / 2, {.depth = 2, .bias_variance = 0}), covariance + 2 / kPi * beyond / kPi,
              1e-14);
  EXPECT_NEAR(kernel_at(0, {.depth = 2, .bias_variance = 0}), 6, 1e-13) << "one more of 2 a layer";
}

// At zero only biases are left: the covariance grows by 0.01 a layer, and the kernel is the sum of all of
// them.
TEST(TangentKernel, OfZerosSumsBiases) {
  const torch::Tensor zero = torch::zeros({1, 5}, torch::kFloat64);
  EXPECT_NEAR(fedd3::tangent_kernel({}, zero, zero).item<double>(), 0.15, 1e-15);
}

TEST(TangentKernel, IsSymmetricAndPositiveDefinite) {
  Stream stream({.seed = 2});
  const torch::Tensor inputs = normal(stream, {20, 6});
  const torch::Tensor kernel = fedd3::tangent_kernel({}, inputs, inputs);
  EXPECT_LE(largest_difference(kernel, kernel.t()), 1e-13);
  EXPECT_GT(at::linalg_eigvalsh(kernel).min().item<double>(), 1e-3);
}

// Among themselves too, where each input's angle with itself stays zero.
TEST(TangentKernel, HasTheDerivativeOfDifferences) {
  Stream stream({.seed = 2});
  torch::Tensor inputs = normal(stream, {3, 4});
  const torch::Tensor others = normal(stream, {5, 4}), weights = normal(stream, {3, 3}),
                      more = normal(stream, {5, 3});
  const auto weighted = [&](const torch::Tensor& at) {
    return (fedd3::tangent_kernel({}, at, at) * weights).sum() +
           (fedd3::tangent_kernel({}, others, at) * more).sum();
  };
  const torch::Tensor expected = central_differences(inputs, [&] { return weighted(inputs).item<double>(); });
  const torch::Tensor leaf = inputs.detach().requires_grad_();
  EXPECT_LE(largest_difference(torch::autograd::grad({weighted(leaf)}, {leaf})[0], expected), 1e-8);
}

class FedD3 : public ::testing::Test {
 protected:
  Batch train(const Settings& settings) {
    OpenShard shard(bench.model, examples);
    return decode_set(bench.train(*plugins().create("fedd3", settings), shard, {}), torch::kFloat64);
  }
  std::int64_t steps() const { return bench.observed.values().find("kernel-loss")->second.count; }

  Workbench bench{{.input_shape = {1, 2, 2}, .outputs = 3, .layers = {Flatten{}, Linear{4, 3}}}};
  Batch examples = random_batch(bench.model, 40);
};

// In the client's own scale the first step of Adam is its rate against the sign of the derivative.
TEST_F(FedD3, StepsAgainstTheLossOfKernelRegression) {
  constexpr double kRidge = 1e-3, kRate = 0.01;
  const double mean = examples.inputs.mean().item<double>();
  const double deviation = (examples.inputs - mean).square().mean().sqrt().item<double>();
  const auto scaled = [&](const torch::Tensor& images) { return ((images - mean) / deviation).flatten(1); };
  const auto one_hot = [](const torch::Tensor& labels) {
    return labels.unsqueeze(1).eq(torch::arange(3)).to(torch::kFloat64) - 1.0 / 3;
  };
  Stream noise = Workbench::client_streams()(Purpose::kSynthetic);
  const Batch set{normal(noise, {6, 1, 2, 2}), torch::tensor({0, 0, 1, 1, 2, 2}, torch::kInt64)};
  torch::Tensor images = scaled(set.inputs);
  const auto loss = [&] {
    const torch::Tensor own = fedd3::tangent_kernel({}, images, images);
    const torch::Tensor ridge = kRidge * own.trace() / 6 * torch::eye(6, torch::kFloat64);
    const torch::Tensor predicted = fedd3::tangent_kernel({}, scaled(examples.inputs), images)
                                        .mm(at::inverse(own + ridge))
                                        .mm(one_hot(set.targets));
    return (predicted - one_hot(examples.targets)).square().mean().item<double>() / 2;
  };
  const double first = loss();
  const torch::Tensor slope = central_differences(images, loss);
  EXPECT_GT(slope.abs().min().item<double>(), 1e-5) << "signs are certain";
  const Batch reached = train({{"images_per_class", 2},
                               {"image_init", "noise"},
                               {"iterations", 1},
                               {"adam_rate", kRate},
                               {"ridge", kRidge}});
  EXPECT_NEAR(bench.observed_mean("kernel-loss"), first, 1e-10);
  EXPECT_TRUE(reached.targets.equal(set.targets));
  EXPECT_LE(largest_difference(scaled(reached.inputs), images - kRate * slope.sign()), 1e-4);
}

TEST_F(FedD3, PredictsItsExamplesBetterAndBetter) {
  train({{"images_per_class", 3}, {"image_init", "noise"}, {"iterations", 1}});
  const double first = bench.observed_mean("kernel-loss");
  bench.observed = {};
  train({{"images_per_class", 3},
         {"image_init", "noise"},
         {"iterations", 60},
         {"stop_accuracy", 1.0},
         {"adam_rate", 0.05}});
  EXPECT_EQ(steps(), 60);
  EXPECT_LT(bench.observed_mean("kernel-loss"), first);
}

TEST_F(FedD3, StopsWhereItPredictsWellEnough) {
  examples.targets.fill_(1);
  train({{"images_per_class", 2}});
  EXPECT_EQ(steps(), 1);
}

// 40 examples of three classes, of which a batch takes two each: no mean over it is that over all.
TEST_F(FedD3, DrawsItsTargetsAnew) {
  const Settings settings{{"images_per_class", 1}, {"iterations", 1}, {"image_init", "noise"}};
  train(joined(settings, {{"target_size", 0}}));
  const double all = bench.observed_mean("kernel-loss");
  bench.observed = {};
  train(joined(settings, {{"target_size", 6}}));
  EXPECT_NE(bench.observed_mean("kernel-loss"), all);
}

TEST_F(FedD3, StopsWhereTheUserStopsTheRun) {
  bench.stop = true;
  EXPECT_THROW(train({}), Interrupted);
}

}  // namespace
}  // namespace fedarena
