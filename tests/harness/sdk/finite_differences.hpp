#pragma once

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "fedarena/model.hpp"
#include "fedarena/random.hpp"

namespace fedarena {

/// Random examples that fit the model: indices where it looks them up, labels for cross-entropy, numbers for
/// the squared error.
inline Batch random_batch(const Model& model, std::int64_t count, std::uint64_t seed = 1) {
  Stream stream({.seed = seed});
  Batch batch{normal(stream, model.input_shape(count)).to(model.options()), {}};
  const auto* embedding = std::get_if<Embedding>(&model.architecture().layers.front());
  if (embedding != nullptr)
    batch.inputs = batch.inputs.abs().mul(1000).floor().remainder(static_cast<double>(embedding->count));
  if (model.architecture().loss == Loss::kSquaredError) {
    batch.targets = normal(stream, {count, model.num_classes()}).to(model.options());
  } else {
    batch.targets = torch::empty({count}, torch::kInt64);
    for (std::int64_t i = 0; i < count; ++i) {
      batch.targets[i] =
          static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(model.num_classes())));
    }
  }
  return batch;
}

/// Derivative of `function` in each element of `at`, by central differences of width 2e-5: an error of about
/// 1e-10 in double precision, as long as no ReLU changes sides.
inline torch::Tensor central_differences(const torch::Tensor& at, const std::function<double()>& function) {
  constexpr double kWidth = 1e-5;
  torch::Tensor result = torch::empty_like(at);
  auto* values = at.data_ptr<double>();
  for (std::int64_t i = 0; i < at.numel(); ++i) {
    const double middle = values[i];
    values[i] = middle + kWidth;
    const double above = function();
    values[i] = middle - kWidth;
    const double below = function();
    values[i] = middle;
    result.data_ptr<double>()[i] = (above - below) / (2 * kWidth);
  }
  return result;
}

inline double largest_difference(const torch::Tensor& left, const torch::Tensor& right) {
  return (left - right).abs().max().item<double>();
}

/// Distance from what is expected, in units of its length; in double.
inline double relative_error(const torch::Tensor& actual, const torch::Tensor& expected) {
  const torch::Tensor wanted = expected.to(torch::kFloat64);
  return ((actual.to(torch::kFloat64) - wanted).norm() / wanted.norm()).item<double>();
}

/// Random parameters, none of them special.
inline Params random_params(const Model& model, std::uint64_t seed = 2) {
  Stream stream({.seed = seed});
  return {model.layout(), normal(stream, {model.layout()->numel()}).mul(0.5).to(model.options())};
}

/// Compares Model::gradient with central differences of Model::loss in every parameter.
inline void expect_true_gradient(const Architecture& architecture, std::int64_t examples = 3) {
  const Model model(architecture, torch::kFloat64);
  const Batch batch = random_batch(model, examples);
  const Params at = random_params(model);
  const Params gradient = model.gradient(at, batch);
  const torch::Tensor expected =
      central_differences(at.flat(), [&] { return model.loss(at, batch).item<double>(); });
  EXPECT_GT(norm(gradient), 1e-3);
  EXPECT_LE(largest_difference(gradient.flat(), expected), 1e-7 * std::max(1.0, norm(gradient)));
}

}  // namespace fedarena
