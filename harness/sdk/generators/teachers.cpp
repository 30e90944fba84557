#include "harness/sdk/generators/teachers.hpp"

#include <ATen/ATen.h>

namespace fedarena::generators {
namespace {

constexpr Key<torch::Tensor> kTeacherWeights{"weights"}, kTeacherBiases{"biases"};

}  // namespace

Teachers::Teachers(const TeacherShape& shape, std::int64_t teachers, const torch::TensorOptions& options)
    : shape_(shape),
      weights_(torch::zeros({teachers, shape.classes, shape.pixels}, options)),
      biases_(torch::zeros({teachers, shape.classes}, options)) {}

Teachers::Teachers(const TeacherShape& shape, const Message& memory)
    : shape_(shape), weights_(memory[kTeacherWeights]), biases_(memory[kTeacherBiases]) {}

Message Teachers::memory() const { return {{kTeacherWeights, weights_}, {kTeacherBiases, biases_}}; }

void Teachers::learn(const Batch& real, const Batch& generated) {
  // Of the loss in the outputs for all classes, [teachers, classes, n]; zero but for the one of each input.
  const auto slopes = [&](const Batch& batch, double wanted) {
    const torch::Tensor outputs = at::bmm(weights_, batch.inputs.transpose(1, 2)) + biases_.unsqueeze(2);
    const torch::Tensor places = batch.targets.unsqueeze(1);
    return torch::zeros_like(outputs).scatter_(
        1, places,
        at::sigmoid(outputs.gather(1, places)).sub_(wanted).div_(static_cast<double>(batch.targets.size(1))));
  };
  const torch::Tensor of_real = slopes(real, 1), of_generated = slopes(generated, 0);
  const double kept = 1 - shape_.rate * shape_.decay;
  weights_.baddbmm_(of_real, real.inputs, kept, -shape_.rate);
  weights_.baddbmm_(of_generated, generated.inputs, 1, -shape_.rate);
  biases_.mul_(kept).sub_(of_real.sum(2) + of_generated.sum(2), shape_.rate);
}

torch::Tensor Teachers::slopes(const Batch& generated) const {
  const torch::Tensor of_class = weights_.index_select(1, generated.targets);  // [teachers, m, pixels]
  const torch::Tensor outputs = (of_class * generated.inputs).sum(2, /*keepdim=*/true) +
                                biases_.index_select(1, generated.targets).unsqueeze(2);
  return of_class * at::sigmoid(-outputs).div_(static_cast<double>(generated.size()));
}

torch::Tensor within_range(const torch::Tensor& slopes, const torch::Tensor& images) {
  return slopes.clamp_min(0) * (1 - images) + slopes.clamp_max(0) * images;
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
