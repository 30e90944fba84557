#include "harness/gradients/engine/per_example.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include <ATen/ATen.h>

#include "fedarena/base/error.hpp"

#include "harness/gradients/engine/pass.hpp"

namespace fedarena {
namespace {

// What factors below one lack: more than the relative error of a norm, a factor and a rounded product
// together.
double slack(torch::ScalarType type) { return type == torch::kFloat32 ? 0x1p-19 : 0x1p-40; }

// Bounds within which rules are exact enough. Squares, products and scaled deltas then neither overflow nor
// lose digits to underflow that a contribution of norm clip_norm would miss.
constexpr double kLargest = 1e15;
constexpr double kSmallestBound = 1e-15;
// Scaled deltas are rounded, which moves a gradient by 2^-24 of its reach. Up to this reach it is less than
// slack().
constexpr double kLargestReach = 16;

// Written so that NaN is none.
bool is_ordinary(const Length& length) {
  const double norm = std::sqrt(length.squared);
  return norm <= kLargest && length.inputs <= kLargest && length.reach <= kLargestReach * norm;
}

// One example's gradient in float64, and in units of its largest part, which may be 0 or not finite: the norm
// is then between one and the root of the number of parameters, whatever the gradient's own magnitude.
struct ScaledGradient {
  torch::Tensor exact, scaled;
  double largest = 0, scaled_norm = 0;
  double norm() const { return scaled_norm * largest; }
};

ScaledGradient gradient_of_one(const Model& model, const Params& at, const Batch& batch,
                               std::int64_t example) {
  ScaledGradient result;
  result.exact = model.gradient(at, {batch.inputs.narrow(0, example, 1), batch.targets.narrow(0, example, 1)})
                     .flat()
                     .to(torch::kFloat64);
  if (result.exact.numel() > 0) result.largest = result.exact.abs().max().item<double>();
  result.scaled = result.exact / result.largest;
  result.scaled_norm = result.scaled.norm().item<double>();
  return result;
}

double norm_of_one(const Model& model, const Params& at, const Batch& batch, std::int64_t example) {
  const ScaledGradient gradient = gradient_of_one(model, at, batch, example);
  if (!std::isfinite(gradient.largest)) return std::numeric_limits<double>::infinity();
  return gradient.largest == 0 ? 0 : gradient.norm();
}

}  // namespace

void require_per_example_gradients(const Architecture& architecture) {
  for (const Layer& layer : architecture.layers) {
    if (!std::holds_alternative<BatchNorm>(layer)) continue;
    throw Error(Complaint{
        .found =
            "the model normalises over batches (BatchNorm), so one example's gradient depends on the other "
            "examples of its batch, and clipping it does not bound what an example can change",
        .remedy = "Use GroupNorm, which normalises each example by itself."});
  }
}

std::string per_example_warning(const Model& model) {
  const bool has_custom = std::ranges::any_of(
      model.architecture().layers, [](const Layer& layer) { return std::holds_alternative<Custom>(layer); });
  if (!has_custom) return {};
  return "The model has layers without a rule for per-example gradients: they are taken one example at a "
         "time, several times slower";
}

ClippedSum clipped_one_by_one(const Model& model, const Params& at, double clip_norm, const Batch& batch) {
  ClippedSum result{.sum = zeros_like(at)};
  torch::Tensor sum = torch::zeros_like(at.flat(), torch::kFloat64);
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const ScaledGradient gradient = gradient_of_one(model, at, batch, i);
    if (gradient.largest == 0) continue;
    if (!std::isfinite(gradient.largest)) {
      ++result.clipped;
      continue;
    }
    const double bound = (1 - slack(at.flat().scalar_type())) * clip_norm;
    result.clipped += gradient.norm() > clip_norm;
    if (gradient.norm() <= bound) {
      sum += gradient.exact;
    } else {
      sum.add_(gradient.scaled, bound / gradient.scaled_norm);
    }
  }
  result.sum.flat().copy_(sum);
  return result;
}

ClippedSum clipped_by_rules(const Weights& weights, double clip_norm, const Batch& batch) {
  const Model& model = weights.model();
  const Params& at = weights.at();
  if (!has_rules(model) || clip_norm < kSmallestBound) {
    return clipped_one_by_one(model, at, clip_norm, batch);
  }
  const torch::NoGradGuard no_graph;
  Pass pass(weights, Want::kPerExample);
  pass.run(batch);
  const std::vector<Length> lengths = pass.lengths(batch.size());

  ClippedSum result{.sum = zeros_like(at)};
  const double bound = (1 - slack(at.flat().scalar_type())) * clip_norm;
  std::vector<double> factors;
  std::vector<std::int64_t> extreme;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double norm = std::sqrt(lengths[i].squared);
    const bool ordinary = is_ordinary(lengths[i]);
    if (!ordinary) extreme.push_back(static_cast<std::int64_t>(i));
    factors.push_back(!ordinary ? 0 : norm <= bound ? 1 : bound / norm);
    result.clipped += ordinary && norm > clip_norm;
  }
  pass.add_sum(kernels::Factors(std::move(factors)), result.sum);
  if (!extreme.empty()) {
    const ClippedSum rest = clipped_one_by_one(model, at, clip_norm, batch.select(torch::tensor(extreme)));
    result.sum += rest.sum;
    result.clipped += rest.clipped;
  }
  return result;
}

torch::Tensor norms_by_rules(const Weights& weights, const Batch& batch) {
  const Model& model = weights.model();
  torch::Tensor norms = torch::empty({batch.size()}, torch::kFloat64);
  auto* out = norms.data_ptr<double>();
  // Without rules none is ordinary.
  std::vector<Length> lengths(static_cast<std::size_t>(batch.size()),
                              {.squared = std::numeric_limits<double>::quiet_NaN()});
  if (has_rules(model)) {
    const torch::NoGradGuard no_graph;
    Pass pass(weights, Want::kPerExample);
    pass.run(batch);
    lengths = pass.lengths(batch.size());
  }
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const Length& own = lengths[static_cast<std::size_t>(i)];
    out[i] = is_ordinary(own) ? std::sqrt(own.squared) : norm_of_one(model, weights.at(), batch, i);
  }
  return norms;
}

Params mean_by_rules(const Weights& weights, const Batch& batch, Trace* trace) {
  if (!has_rules(weights.model())) return weights.model().gradient(weights.at(), batch);
  const torch::NoGradGuard no_graph;
  Pass pass(weights, Want::kSum);
  pass.run(batch, trace);
  Params mean = zeros_like(weights.at());
  pass.add_sum(kernels::Factors::ones(batch.size()), mean);
  return mean;
}

}  // namespace fedarena
