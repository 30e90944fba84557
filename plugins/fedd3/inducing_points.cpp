#include "inducing_points.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <torch/autograd.h>

#include <fedarena/adam.hpp>
#include <fedarena/class_batches.hpp>

#include "tangent_kernel.hpp"

namespace fedd3 {

using namespace fedarena;

namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kTargets = 2;

// What a client's inputs are scaled by, channel by channel; all numbers alike where there are no channels.
struct Scale {
  explicit Scale(const torch::Tensor& inputs) {
    std::vector<std::int64_t> others;
    for (std::int64_t d = 0; d < inputs.dim(); ++d) {
      if (d != 1 || inputs.dim() < 3) others.push_back(d);
    }
    mean = inputs.mean(others, /*keepdim=*/true);
    deviation = (inputs - mean).square().mean(others, /*keepdim=*/true).sqrt();
    deviation = torch::where(deviation > 0, deviation, torch::ones_like(deviation));
  }
  torch::Tensor operator()(const torch::Tensor& inputs) const {
    return ((inputs.to(torch::kFloat64) - mean) / deviation).flatten(1);
  }
  torch::Tensor back(const torch::Tensor& scaled, const torch::Tensor& like) const {
    return (scaled.view_as(like) * deviation + mean).to(like.scalar_type());
  }
  torch::Tensor mean, deviation;
};

torch::Tensor centred_one_hot(const torch::Tensor& labels, std::int64_t classes) {
  const auto shared = static_cast<double>(classes);
  return labels.unsqueeze(1).eq(torch::arange(classes, labels.options())).to(torch::kFloat64) - 1 / shared;
}

}  // namespace

void induce(const Config& config, Client& client, Batch& set) {
  const Batch all = client.oracle.exact_batch();
  if (all.size() == 0) return;
  const Scale scale(all.inputs.to(torch::kFloat64));
  const std::int64_t classes = client.model.num_classes(),
                     held = std::get<0>(at::_unique(all.targets)).size(0);
  const std::int64_t share =
      config.target_size > 0 ? std::max<std::int64_t>(1, config.target_size / held) : 0;
  ClassBatches examples(client, share, client.streams(Purpose::kSynthetic, kTargets));
  const torch::Tensor own_targets = centred_one_hot(set.targets, classes);
  const torch::Tensor identity = torch::eye(set.size(), own_targets.options());
  torch::Tensor images = scale(set.inputs);
  Adam adam;
  for (std::int64_t step = 1; step <= config.iterations; ++step) {
    client.compute.stop_if_interrupted();
    std::vector<Batch> parts;
    for (std::int64_t label = 0; label < classes; ++label) parts.push_back(examples.draw(label));
    const Batch batch = union_of(parts);
    const torch::Tensor targets = centred_one_hot(batch.targets, classes);
    const torch::AutoGradMode enabled(true);
    const torch::Tensor leaf = images.detach().requires_grad_();
    const torch::Tensor own = tangent_kernel({}, leaf, leaf);
    const torch::Tensor ridge = config.ridge * own.trace() / static_cast<double>(set.size()) * identity;
    const torch::Tensor predicted =
        tangent_kernel({}, scale(batch.inputs), leaf).mm(at::linalg_solve(own + ridge, own_targets));
    const torch::Tensor loss = (predicted - targets).square().mean() / 2;
    const torch::Tensor right = predicted.argmax(1).eq(batch.targets);
    adam.step(images, torch::autograd::grad({loss}, {leaf})[0], config.adam_rate);
    client.observed.add("kernel-loss", loss.item<double>());
    if (right.to(torch::kFloat64).mean().item<double>() > config.stop_accuracy) break;
  }
  set.inputs = scale.back(images, set.inputs);
}

}  // namespace fedd3
