#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <fedarena/augmentation.hpp>

#include "fedlap.hpp"

namespace fedlap {

using namespace fedarena;

namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kAugmentations = 1;
constexpr std::uint64_t kTrialBatches = 2;

// How far the point of least loss on the walk lies, where each example votes once with its losses at all
// points, each beside that at the start.
double voted_radius(const Config& config, Client& client, const Params& start, GlobalDescent descent) {
  std::vector<Params> way{start};
  Params local = start;
  for (std::int64_t epoch = 0; epoch < config.server_epochs; ++epoch) {
    if (!descent.epoch(local, start, config.radius, config.rate_in(client.round, client.rounds))) break;
    way.push_back(local);
  }
  const torch::Tensor sums = client.oracle.noisy_sum(
      [&](const Voters& voters) {
        const torch::NoGradGuard constant;
        std::vector<torch::Tensor> losses;
        for (const Params& at : way) {
          const torch::Tensor outputs = client.model.forward(at, voters.examples.inputs.flatten(0, 1));
          losses.push_back(client.model.losses(outputs, voters.examples.targets.flatten()));
        }
        const torch::Tensor all = at::stack(losses, 1);
        return (all - all.narrow(1, 0, 1)).unsqueeze(1);
      },
      {.parts = 0, .numbers = static_cast<std::int64_t>(way.size()), .bound = config.region_bound})[0];
  return norm(way[static_cast<std::size_t>(sums.argmin().item<std::int64_t>())] - start);
}

}  // namespace

void approximate(const Config& config, Client& client, const Params& start, Batch& set) {
  const double rate = config.rate_in(client.round, client.rounds);
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  fedarena::ImageDescent descent(config, set.inputs);
  for (std::int64_t trajectory = 0; trajectory < config.trajectories; ++trajectory) {
    Params local = start;
    for (std::int64_t outer = 0; outer < config.outer_steps; ++outer) {
      if (norm(local - start) >= config.radius) break;
      for (std::int64_t batch = 0; batch < config.real_batches; ++batch) {
        const Augmentation augmentation = Augmentation::draw(config.augmentation, draws);
        const Params real =
            client.oracle.gradient(local, {.batch_size = config.batch_size, .augmentation = &augmentation});
        for (std::int64_t update = 0; update < config.image_updates; ++update) {
          const Batch changed{augmentation(set.inputs), set.targets};
          const torch::Tensor slope = matching_slope(config, client, local, changed, real);
          descent.step(augmentation.pull_back(set.inputs, slope));
        }
      }
      if (outer + 1 == config.outer_steps) break;
      for (std::int64_t step = 0; step < config.model_steps; ++step) {
        local.add_scaled(-rate, client.compute.gradient(local, set));
      }
    }
  }
}

double effective_radius(const Config& config, Client& client, const Params& start, const WeightedSet& own) {
  GlobalDescent descent(config, client.compute, {own}, client.streams(Purpose::kSynthetic, kTrialBatches));
  if (config.region == "votes")
    return std::min(voted_radius(config, client, start, std::move(descent)), config.radius);
  Params local = start;
  double best = 0;
  double least = config.region == "loss" ? client.oracle.loss(start) : 0;
  for (std::int64_t epoch = 0; epoch < config.server_epochs; ++epoch) {
    if (config.region == "gradient") {
      const Params real = client.oracle.gradient(local, {});
      if (dot(real, client.compute.gradient(local, own.set)) <= 0) break;
      best = norm(local - start);
    }
    if (!descent.epoch(local, start, config.radius, config.rate_in(client.round, client.rounds))) break;
    if (config.region == "loss") {
      const double loss = client.oracle.loss(local);
      if (loss < least) best = norm(local - start);
      least = std::min(least, loss);
    }
  }
  return std::min(best, config.radius);
}

}  // namespace fedlap
