#include <algorithm>
#include <limits>
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

bool is_inside(const Config& config, const Params& local, const Params& start) {
  return norm(local - start) < config.radius;
}

// How far the point of least loss on the walk lies, where each example votes once with its losses at all
// points, each beside that at the start, which is none of them.
double voted_radius(const Config& config, Client& client, const Params& start, GlobalDescent descent) {
  std::vector<Params> way{start};
  Params local = start;
  for (std::int64_t epoch = 0; epoch < config.server_epochs && is_inside(config, local, start); ++epoch) {
    descent.epoch(local, start, config.radius, config.rate_in(client.round, client.rounds));
    way.push_back(local);
  }
  if (way.size() == 1) return 0;  // from where numbers have ended, no walk leads
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
  const auto least = sums.slice(0, 1).argmin().item<std::int64_t>() + 1;
  return norm(way[static_cast<std::size_t>(least)] - start);
}

// How far the point of least loss on the walk lies, by exact losses.
double measured_radius(const Config& config, Client& client, const Params& start, GlobalDescent descent) {
  Params local = start;
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (std::int64_t epoch = 0; epoch < config.server_epochs && is_inside(config, local, start); ++epoch) {
    descent.epoch(local, start, config.radius, config.rate_in(client.round, client.rounds));
    const double loss = client.oracle.loss(local);
    if (loss < least) best = norm(local - start);
    least = std::min(least, loss);
  }
  return best;
}

// How far the last point lies up to which gradients of examples and images agree; the first, where none does.
double agreed_radius(const Config& config, Client& client, const Params& start, const Batch& set,
                     GlobalDescent descent) {
  Params local = start;
  double best = 0;
  for (std::int64_t epoch = 0; epoch < config.server_epochs && is_inside(config, local, start); ++epoch) {
    descent.epoch(local, start, config.radius, config.rate_in(client.round, client.rounds));
    const bool agree = dot(client.oracle.gradient(local, {}), client.compute.gradient(local, set)) > 0;
    if (agree || epoch == 0) best = norm(local - start);
    if (!agree) break;
  }
  return best;
}

}  // namespace

void approximate(const Config& config, Client& client, const Params& start, Batch& set) {
  const double rate = config.rate_in(client.round, client.rounds);
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  fedarena::ImageDescent descent(config, set.inputs);
  for (std::int64_t trajectory = 0; trajectory < config.trajectories; ++trajectory) {
    Params local = start;
    for (std::int64_t outer = 0; outer < config.outer_steps; ++outer) {
      if (!is_inside(config, local, start)) break;
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
  const double radius = config.region == "votes" ? voted_radius(config, client, start, std::move(descent))
                        : config.region == "loss"
                            ? measured_radius(config, client, start, std::move(descent))
                            : agreed_radius(config, client, start, own.set, std::move(descent));
  return std::min(radius, config.radius);
}

}  // namespace fedlap
