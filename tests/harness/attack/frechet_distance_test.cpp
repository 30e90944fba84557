// The Frechet distance of Gaussians, in closed form.
#include "harness/attack/frechet_distance.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace fedarena {
namespace {

// 2 d rows whose mean is `mean` and whose covariance is root root^T.
torch::Tensor rows_with(const torch::Tensor& mean, const torch::Tensor& root) {
  const std::int64_t dimensions = mean.size(0);
  const double scale = std::sqrt(static_cast<double>(2 * dimensions - 1) / 2);
  const torch::Tensor steps = scale * root.t();
  return mean + torch::cat({steps, -steps});
}

torch::Tensor matrix(const std::vector<double>& values) {
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(values.size()))));
  return torch::tensor(values, torch::kFloat64).view({side, side});
}

TEST(FrechetDistance, OfIndependentFeaturesAddsUpOneByOne) {
  const torch::Tensor mean = torch::tensor({1.0, -2.0, 0.5}, torch::kFloat64);
  const torch::Tensor shift = torch::tensor({0.5, 0.0, -1.0}, torch::kFloat64);
  const torch::Tensor deviations = torch::tensor({1.0, 2.0, 0.0}, torch::kFloat64);
  const torch::Tensor others = torch::tensor({1.5, 0.5, 3.0}, torch::kFloat64);
  const double expected = (shift.square().sum() + (deviations - others).square().sum()).item<double>();
  EXPECT_NEAR(frechet_distance(rows_with(mean, torch::diag(deviations)),
                               rows_with(mean + shift, torch::diag(others))),
              expected, 1e-9);
}

// In two dimensions tr (S1 S2)^(1/2) = (tr S1 S2 + 2 (det S1 S2)^(1/2))^(1/2).
TEST(FrechetDistance, OfFeaturesThatVaryTogetherIsThatOfTheFormula) {
  const torch::Tensor left = matrix({2, 0, 1, 1}), right = matrix({1, 0.5, -1, 3});
  const torch::Tensor zero = torch::zeros({2}, torch::kFloat64);
  const torch::Tensor a = left.mm(left.t()), b = right.mm(right.t()), product = a.mm(b);
  const double joint =
      std::sqrt(product.trace().item<double>() + 2 * std::sqrt(torch::linalg_det(product).item<double>()));
  const double expected = (a.trace() + b.trace()).item<double>() - 2 * joint;
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(frechet_distance(rows_with(zero, left), rows_with(zero, right)), expected, 1e-9);
  EXPECT_NEAR(frechet_distance(rows_with(zero, right), rows_with(zero, left)), expected, 1e-9);
  EXPECT_NEAR(frechet_distance(rows_with(zero, left), rows_with(zero, left)), 0, 1e-9);
}

}  // namespace
}  // namespace fedarena
