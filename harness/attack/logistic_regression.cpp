#include "harness/attack/logistic_regression.hpp"

#include <algorithm>

#include <ATen/ATen.h>

namespace fedarena {
namespace {

// In units of examples: far below what any number of them says.
constexpr double kRidge = 1e-3;
constexpr int kNewtonSteps = 200;
constexpr double kConverged = 1e-10, kRounding = 1e-12, kLeastPart = 1e-12;

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

at::Tensor with_constant(const at::Tensor& features) {
  return at::cat({features, at::ones({features.size(0), 1}, at::kDouble)}, 1);
}

}  // namespace

LogisticRegression::LogisticRegression(const Rows& positives, const Rows& negatives) {
  Rows rows = positives;
  rows.insert(rows.end(), negatives.begin(), negatives.end());
  const at::Tensor features = matrix_of(rows);
  const at::Tensor deviation = features.std(0, false);
  mean_ = features.mean(0);
  deviation_ = at::where(deviation > 0, deviation, at::ones_like(deviation));
  const at::Tensor x = with_constant((features - mean_) / deviation_);
  const at::Tensor y = at::cat({at::ones({static_cast<std::int64_t>(positives.size())}, at::kDouble),
                                at::zeros({static_cast<std::int64_t>(negatives.size())}, at::kDouble)});
  weights_ = at::zeros({x.size(1)}, at::kDouble);
  const at::Tensor ridge = kRidge * at::eye(x.size(1), at::kDouble);
  const auto loss = [&](const at::Tensor& weights) {
    return (kRidge / 2 * weights.dot(weights) - at::log_sigmoid((2 * y - 1) * x.mv(weights)).sum())
        .item<double>();
  };
  for (int step = 0; step < kNewtonSteps; ++step) {
    const at::Tensor p = at::sigmoid(x.mv(weights_));
    const at::Tensor slope = x.t().mv(p - y) + kRidge * weights_;
    const at::Tensor curvature = x.t().matmul(x * (p * (1 - p)).unsqueeze(1)) + ridge;
    const at::Tensor change = at::linalg_solve(curvature, slope);
    // Where features have long tails a whole step may lead away from the optimum, ever further.
    const double bound = loss(weights_) * (1 + kRounding);
    double part = 1;
    while (part > kLeastPart && !(loss(weights_ - part * change) <= bound)) part /= 2;
    weights_ = weights_ - part * change;
    if (change.abs().max().item<double>() < kConverged) break;
  }
}

std::vector<double> LogisticRegression::logits(const Rows& rows) const {
  if (rows.empty()) return {};
  const at::Tensor odds = with_constant((matrix_of(rows) - mean_) / deviation_).mv(weights_);
  return {odds.data_ptr<double>(), odds.data_ptr<double>() + odds.numel()};
}

}  // namespace fedarena
