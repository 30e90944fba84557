#include "tangent_kernel.hpp"

#include <numbers>

namespace fedd3 {

namespace {

constexpr double kPi = std::numbers::pi;

// From this cosine on, two inputs have the same direction but for rounding.
constexpr double kSame = 1 - 1e-14;

torch::Tensor squares_over_numbers(const torch::Tensor& inputs) {
  return inputs.square().sum(1) / static_cast<double>(inputs.size(1));
}

}  // namespace

torch::Tensor tangent_kernel(const Network& network, const torch::Tensor& left, const torch::Tensor& right) {
  const double weight = network.weight_variance, bias = network.bias_variance;
  // The covariance of outputs, between inputs and of each with itself, and the tangent kernel.
  torch::Tensor covariance = weight * left.mm(right.t()) / static_cast<double>(left.size(1)) + bias;
  torch::Tensor own_left = weight * squares_over_numbers(left) + bias;
  torch::Tensor own_right = weight * squares_over_numbers(right) + bias;
  torch::Tensor kernel = covariance;
  for (std::int64_t layer = 0; layer < network.depth; ++layer) {
    const torch::Tensor scale = (own_left.unsqueeze(1) * own_right).sqrt();
    const torch::Tensor cosine = covariance / scale;
    const torch::Tensor same = cosine >= kSame;
    const torch::Tensor inside =
        torch::where(same, torch::zeros_like(cosine), cosine).clamp(-1 + 1e-14, kSame);
    const torch::Tensor sine = torch::where(same, torch::zeros_like(cosine), (1 - inside.square()).sqrt());
    const torch::Tensor beyond = torch::where(same, torch::full_like(cosine, kPi), kPi - inside.acos());
    // E[relu(u) relu(v)] and E[relu'(u) relu'(v)].
    covariance =
        weight * scale * (sine + beyond * torch::where(same, torch::ones_like(cosine), inside)) / (2 * kPi) +
        bias;
    kernel = covariance + weight * kernel * beyond / (2 * kPi);
    own_left = weight * own_left / 2 + bias;
    own_right = weight * own_right / 2 + bias;
  }
  return kernel;
}

}  // namespace fedd3
