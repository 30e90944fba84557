#include "condensation.hpp"

#include <fedarena/augmentation.hpp>
#include <fedarena/class_batches.hpp>

#include "set_training.hpp"

namespace dsc {

using fedarena::Augmentation;
using fedarena::Batch;
using fedarena::ClassBatches;
using fedarena::Client;
using fedarena::Params;
using fedarena::Purpose;
using fedarena::Stream;

namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kWeights = 1;
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;
constexpr std::uint64_t kShuffles = 4;
constexpr std::uint64_t kTrainingAugmentations = 5;

// The derivative of the summed distances of all classes in the images. Classes share no image, so one step
// along it is a step for each class.
torch::Tensor slope_of_distances(const Config& config, const Client& client, const Params& at,
                                 const Batch& set, ClassBatches& examples, Stream& draws) {
  torch::Tensor slope = torch::zeros_like(set.inputs);
  for (std::int64_t first = 0; first < set.size(); first += config.images_per_class) {
    const Batch real = examples.draw(set.targets[first].item<std::int64_t>());
    const Augmentation augmentation = Augmentation::draw(config.augmentation, draws);
    if (real.size() == 0) continue;
    const Params target = client.compute.gradient(at, {augmentation(real.inputs), real.targets});
    const torch::Tensor images = set.inputs.narrow(0, first, config.images_per_class);
    const torch::Tensor labels = set.targets.narrow(0, first, config.images_per_class);
    const torch::Tensor own = client.compute.input_gradient(
        at, {augmentation(images), labels},
        [&](const Params& gradient) { return matching_distance(gradient, target, config).slope; });
    slope.narrow(0, first, config.images_per_class).copy_(augmentation.pull_back(images, own));
  }
  return slope;
}

}  // namespace

void condense(const Config& config, Client& client, Batch& set) {
  ClassBatches examples(client, config.batch_size, client.streams(Purpose::kSynthetic, kRealBatches));
  Stream weights = client.streams(Purpose::kSynthetic, kWeights);
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  Stream shuffles = client.streams(Purpose::kSynthetic, kShuffles);
  Stream training_draws = client.streams(Purpose::kSynthetic, kTrainingAugmentations);
  fedarena::ImageDescent descent(config, set.inputs);
  for (std::int64_t k = 0; k < config.initialisations; ++k) {
    Params model = client.model.initial(weights);
    SetTrainer trainer({config.set_batch_size, config.momentum, /*weight_decay=*/0, config.augmentation},
                       client.compute, shuffles, training_draws);
    for (std::int64_t point = 0; point < config.outer_steps; ++point) {
      descent.step(slope_of_distances(config, client, model, set, examples, draws));
      if (point + 1 == config.outer_steps) break;
      for (std::int64_t epoch = 0; epoch < config.model_epochs; ++epoch) {
        trainer.epoch(model, set, config.rate);
      }
    }
  }
}

}  // namespace dsc
