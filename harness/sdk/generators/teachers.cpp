#include "harness/sdk/generators/teachers.hpp"

#include <utility>

#include <ATen/ATen.h>

namespace fedarena::generators {
namespace {

constexpr double kTeacherLeak = 0.2;
constexpr Adam::Settings kTeacherMoments{.beta1 = 0.5};
constexpr Key<torch::Tensor> kTeacherWeights{"weights"}, kMean{"mean"}, kSquare{"square"}, kSteps{"steps"};

}  // namespace

Teachers::Teachers(const TeacherShape& shape, torch::Tensor weights)
    : shape_(shape),
      weights_(std::move(weights)),
      moments_{torch::zeros_like(weights_), torch::zeros_like(weights_)} {}

Teachers::Teachers(const TeacherShape& shape, const Message& memory)
    : shape_(shape),
      weights_(memory[kTeacherWeights]),
      moments_{memory[kMean], memory[kSquare]},
      steps_(memory[kSteps][0].item<std::int64_t>()) {}

Message Teachers::memory() const {
  return {{kTeacherWeights, weights_},
          {kMean, moments_.mean},
          {kSquare, moments_.square},
          {kSteps, torch::full({size()}, steps_, torch::kInt64)}};
}

torch::Tensor Teachers::hidden_of(const torch::Tensor& weights) const {
  return weights.narrow(1, 0, shape_.width * shape_.inputs())
      .view({weights.size(0), shape_.width, shape_.inputs()});
}

torch::Tensor Teachers::output_of(const torch::Tensor& weights) const {
  return weights.narrow(1, shape_.width * shape_.inputs(), shape_.width).unsqueeze(2);
}

torch::Tensor Teachers::bias_of(const torch::Tensor& weights) const {
  return weights.narrow(1, shape_.numbers() - 1, 1).unsqueeze(2);
}

Teachers::Pass Teachers::pass(const torch::Tensor& inputs) const {
  const torch::Tensor sums = at::bmm(inputs, hidden_of(weights_).transpose(1, 2));
  const torch::Tensor hidden = at::leaky_relu(sums, kTeacherLeak);
  return {sums, hidden, at::baddbmm(bias_of(weights_), hidden, output_of(weights_))};
}

torch::Tensor Teachers::back(const Pass& pass, const torch::Tensor& slopes) const {
  return at::leaky_relu_backward(slopes * output_of(weights_).transpose(1, 2), pass.sums, kTeacherLeak,
                                 /*self_is_result=*/false);
}

void Teachers::learn(const torch::Tensor& real, const torch::Tensor& generated, double rate) {
  const std::int64_t count = real.size(1), others = generated.size(0);
  const torch::Tensor inputs = at::cat({real, generated.unsqueeze(0).expand({size(), -1, -1})}, 1);
  const Pass forward = pass(inputs);
  torch::Tensor slopes = at::sigmoid(forward.outputs);
  slopes.narrow(1, 0, count).sub_(1).div_(static_cast<double>(count));
  slopes.narrow(1, count, others).div_(static_cast<double>(others));

  const torch::Tensor gradient = torch::empty_like(weights_);
  torch::Tensor of_hidden = hidden_of(gradient), of_output = output_of(gradient);
  at::bmm_out(of_hidden, back(forward, slopes).transpose(1, 2), inputs);
  at::bmm_out(of_output, forward.hidden.transpose(1, 2), slopes);
  bias_of(gradient).copy_(slopes.sum(1, /*keepdim=*/true));

  Adam::step(kTeacherMoments, moments_, ++steps_, weights_, gradient, rate);
}

torch::Tensor Teachers::slopes(const torch::Tensor& generated) const {
  const Pass forward = pass(generated.unsqueeze(0).expand({size(), -1, -1}));
  const torch::Tensor trust = at::sigmoid(-forward.outputs) / static_cast<double>(generated.size(0));
  return at::bmm(back(forward, trust), hidden_of(weights_).narrow(2, 0, shape_.pixels));
}

torch::Tensor top_signs(const torch::Tensor& slopes, double scale, const torch::Tensor& draws) {
  const auto [sizes, places] = slopes.abs().topk(draws.size(1), /*dim=*/1);
  // All slopes may be zero, and their signs are coins then.
  const torch::Tensor most = sizes.narrow(1, 0, 1).clamp(1e-30, scale);
  const torch::Tensor positive = slopes.gather(1, places) / (2 * most) + 0.5;
  const torch::Tensor signs = draws.lt(positive).to(slopes.options()) * 2 - 1;
  return torch::zeros_like(slopes).scatter_(1, places, signs);
}

torch::Tensor crossings(const torch::Tensor& votes, std::int64_t voters, double share) {
  const double least = share * static_cast<double>(voters);
  return votes.gt(least).to(votes.options()) - votes.lt(-least).to(votes.options());
}

}  // namespace fedarena::generators
