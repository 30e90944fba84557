#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/gradients/engine/gradients.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {

inline BatchSource slices_of(const Batch& batch) {
  return [&batch](std::int64_t begin, std::int64_t end) {
    return Batch{batch.inputs.narrow(0, begin, end - begin), batch.targets.narrow(0, begin, end - begin)};
  };
}

/// Every example's gradient by autograd, each in double and in a batch of its own.
inline std::vector<torch::Tensor> separate_gradients(const Model& model, const Params& at,
                                                     const Batch& batch) {
  std::vector<torch::Tensor> gradients;
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const Params gradient = model.gradient(at, slices_of(batch)(i, i + 1));
    gradients.push_back(gradient.flat().to(torch::kFloat64));
  }
  return gradients;
}

/// What GradientEngine::clipped_gradient_sum promises, as it is written in papers.
inline torch::Tensor clipped_by_hand(const std::vector<torch::Tensor>& gradients, double clip_norm) {
  torch::Tensor sum = torch::zeros_like(gradients.front());
  for (const torch::Tensor& gradient : gradients) {
    const auto length = gradient.norm().item<double>();
    if (std::isfinite(length)) sum += length > clip_norm ? gradient * (clip_norm / length) : gradient;
  }
  return sum;
}

inline double median_norm(const std::vector<torch::Tensor>& gradients) {
  std::vector<double> norms;
  for (const torch::Tensor& gradient : gradients) norms.push_back(gradient.norm().item<double>());
  std::nth_element(norms.begin(), norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2), norms.end());
  return norms[norms.size() / 2];
}

/// Relative distance of the engine's clipped sum from the one by hand, both types and three bounds: none, one
/// that clips half of the examples, one that clips all.
inline void expect_exact_clipping(const Architecture& architecture, torch::ScalarType type,
                                  const WorkPool& pool, std::int64_t count, std::uint64_t seed) {
  const Model model(architecture, type);
  Stream stream({.seed = seed});
  const Params at = model.initial(stream) + 0.05 * random_params(model);  // norms' shifts are no longer zero
  Batch batch = random_batch(model, count, seed);
  const auto* embedding = std::get_if<Embedding>(&architecture.layers.front());
  if (embedding != nullptr) {
    batch.inputs = batch.inputs.abs().mul(1000).floor().remainder(static_cast<double>(embedding->count));
  }
  const std::vector<torch::Tensor> gradients = separate_gradients(model, at, batch);
  const double middle = median_norm(gradients);
  const GradientEngine engine(model, pool);
  for (const double clip_norm : {std::numeric_limits<double>::infinity(), middle, 0.01 * middle}) {
    const ClippedSum actual = engine.clipped_gradient_sum(at, clip_norm, count, slices_of(batch));
    const torch::Tensor expected = clipped_by_hand(gradients, clip_norm);
    const double error = (actual.sum.flat().to(torch::kFloat64) - expected).norm().item<double>();
    EXPECT_LE(error, (type == torch::kFloat32 ? 1e-5 : 1e-10) * expected.norm().item<double>())
        << "clip_norm " << clip_norm << ", seed " << seed << ", " << type;
    EXPECT_EQ(actual.examples, count);
    const auto longer_than = [&](double length) {
      return std::count_if(gradients.begin(), gradients.end(), [&](const torch::Tensor& gradient) {
        return gradient.norm().item<double>() > length;
      });
    };
    EXPECT_GE(actual.clipped, longer_than(clip_norm * (1 + 1e-4)));
    EXPECT_LE(actual.clipped, longer_than(clip_norm * (1 - 1e-4)));
  }
}

}  // namespace fedarena
