#include "harness/attack/logistic_regression.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

namespace fedarena {
namespace {

// In units of examples: far below what any number of them says.
constexpr double kRidge = 1e-3;
constexpr int kNewtonSteps = 50;
constexpr double kConverged = 1e-10;

// Infinite features carry no more than very large ones.
double bounded(double feature) { return std::clamp(feature, -1e30, 1e30); }

at::Tensor matrix_of(const LogisticRegression::Rows& rows) {
  const auto columns = static_cast<std::int64_t>(rows.front().size());
  at::Tensor matrix = at::empty({static_cast<std::int64_t>(rows.size()), columns}, at::kDouble);
  auto* out = matrix.data_ptr<double>();
  for (const auto& row : rows) {
    for (const double feature : row) *out++ = bounded(feature);
  }
  return matrix;
}

std::vector<double> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel()};
}

at::Tensor tensor_of(const std::vector<double>& values) {
  return at::tensor(at::ArrayRef<double>(values), at::kDouble);
}

at::Tensor with_constant(const at::Tensor& features) {
  return at::cat({features, at::ones({features.size(0), 1}, at::kDouble)}, 1);
}

}  // namespace

LogisticRegression::LogisticRegression(const Rows& positives, const Rows& negatives) {
  Rows rows = positives;
  rows.insert(rows.end(), negatives.begin(), negatives.end());
  const at::Tensor features = matrix_of(rows);
  const at::Tensor mean = features.mean(0);
  at::Tensor deviation = features.std(0, false);
  deviation = at::where(deviation > 0, deviation, at::ones_like(deviation));
  mean_ = values_of(mean);
  deviation_ = values_of(deviation);
  const at::Tensor x = with_constant((features - mean) / deviation);
  const at::Tensor y = at::cat({at::ones({static_cast<std::int64_t>(positives.size())}, at::kDouble),
                                at::zeros({static_cast<std::int64_t>(negatives.size())}, at::kDouble)});
  at::Tensor weights = at::zeros({x.size(1)}, at::kDouble);
  const at::Tensor ridge = kRidge * at::eye(x.size(1), at::kDouble);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const at::Tensor p = at::sigmoid(x.mv(weights));
    const at::Tensor slope = x.t().mv(p - y) + kRidge * weights;
    const at::Tensor curvature = x.t().matmul(x * (p * (1 - p)).unsqueeze(1)) + ridge;
    const at::Tensor change = at::linalg_solve(curvature, slope);
    weights = weights - change;
    if (change.abs().max().item<double>() < kConverged) break;
  }
  weights_ = values_of(weights);
}

std::vector<double> LogisticRegression::logits(const Rows& rows) const {
  if (rows.empty()) return {};
  const at::Tensor features = (matrix_of(rows) - tensor_of(mean_)) / tensor_of(deviation_);
  return values_of(with_constant(features).mv(tensor_of(weights_)));
}

}  // namespace fedarena
