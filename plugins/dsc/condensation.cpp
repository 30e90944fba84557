#include "condensation.hpp"

#include <utility>

#include <fedarena/class_batches.hpp>

#include "set_training.hpp"

namespace dsc {

using namespace fedarena;

namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kWeights = 1;
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;
constexpr std::uint64_t kShuffles = 4;
constexpr std::uint64_t kTrainingAugmentations = 5;

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
      // Classes share no image, so one step along all slopes is a step for each class.
      descent.step(slope_by_class(config, set, examples, draws, [&](const Batch& real, const Batch& own) {
        const Params target = client.compute.gradient(model, real);
        return client.compute.input_gradient(model, own, [&](const Params& gradient) {
          fedarena::MatchingDistance distance = matching_distance(gradient, target, config);
          client.observed.add("matching-loss", distance.value);
          return std::move(distance.slope);
        });
      }));
      if (point + 1 == config.outer_steps) break;
      for (std::int64_t epoch = 0; epoch < config.model_epochs; ++epoch) {
        trainer.epoch(model, set, config.rate);
      }
    }
  }
}

}  // namespace dsc
