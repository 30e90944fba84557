#include "local_approximation.hpp"

#include <algorithm>

#include <fedarena/augmentation.hpp>

#include "global_optimisation.hpp"

namespace fedlap {

using fedarena::Augmentation;
using fedarena::Batch;
using fedarena::Client;
using fedarena::Params;
using fedarena::Purpose;
using fedarena::Stream;

namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kAugmentations = 1;
constexpr std::uint64_t kTrialBatches = 2;

// SGD with momentum on the images.
class ImageDescent {
 public:
  ImageDescent(const Config& config, const Client& client, Batch& set)
      : config_(config), client_(client), set_(set), velocity_(torch::zeros_like(set.inputs)) {}

  // One step towards images whose gradient at `at`, augmented, matches `real`.
  void step(const Params& at, const Params& real, const Augmentation& augmentation) {
    const torch::Tensor slope = client_.compute.input_gradient(
        at, {augmentation(set_.inputs), set_.targets},
        [&](const Params& own) { return matching_distance(own, real, config_).slope; });
    velocity_ = config_.image_momentum * velocity_ + augmentation.pull_back(set_.inputs, slope);
    set_.inputs = set_.inputs - config_.image_rate * velocity_;
  }

 private:
  const Config& config_;
  const Client& client_;
  Batch& set_;
  torch::Tensor velocity_;
};

}  // namespace

void approximate(const Config& config, Client& client, const Params& start, Batch& set) {
  const double rate = config.rate_in(client.round, client.rounds);
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  ImageDescent descent(config, client, set);
  for (std::int64_t trajectory = 0; trajectory < config.trajectories; ++trajectory) {
    Params local = start;
    for (std::int64_t outer = 0; outer < config.outer_steps; ++outer) {
      if (norm(local - start) >= config.radius) break;
      for (std::int64_t batch = 0; batch < config.real_batches; ++batch) {
        const Augmentation augmentation = Augmentation::draw(config.augmentation, draws);
        const Params real =
            client.oracle.gradient(local, {.batch_size = config.batch_size, .augmentation = &augmentation});
        for (std::int64_t update = 0; update < config.image_updates; ++update) {
          descent.step(local, real, augmentation);
        }
      }
      if (outer + 1 == config.outer_steps) break;
      for (std::int64_t step = 0; step < config.model_steps; ++step) {
        local.add_scaled(-rate, client.compute.gradient(local, set));
      }
    }
  }
}

double effective_radius(const Config& config, Client& client, const Params& start, const Batch& set) {
  GlobalDescent descent(config, client.compute, {{set, 1.0}},
                        client.streams(Purpose::kSynthetic, kTrialBatches));
  Params local = start;
  double best = 0;
  double least = config.region == "loss" ? client.oracle.loss(start) : 0;
  for (std::int64_t epoch = 0; epoch < config.server_epochs; ++epoch) {
    if (config.region == "gradient") {
      const Params real = client.oracle.gradient(local, {});
      if (dot(real, client.compute.gradient(local, set)) <= 0) break;
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
