#include "fedarena/condensation.hpp"

#include <utility>
#include <vector>

#include "fedarena/synthetic_sets.hpp"

namespace fedarena {
namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kWeights = 1;
constexpr std::uint64_t kShuffles = 4;
constexpr std::uint64_t kTrainingAugmentations = 5;

// SGD on a set in shuffled and augmented batches, with momentum v <- momentum v + g and weight decay added to
// the gradient, as in PyTorch's SGD; starts at v = 0.
class SetTrainer {
 public:
  struct Training {
    std::int64_t batch_size;
    double momentum;
    double weight_decay;
    const std::string& augmentation;
  };

  SetTrainer(const Training& how, const Compute& compute, Stream& shuffles, Stream& augmentations)
      : how_(how), compute_(compute), shuffles_(shuffles), augmentations_(augmentations) {}

  // One pass over the set.
  void epoch(Params& params, const Batch& set, double rate) {
    if (set.size() == 0) return;  // which split() would make a batch of
    if (velocity_.empty()) velocity_ = zeros_like(params);
    const torch::Tensor order = torch::tensor(shuffles_.permutation(set.size()), torch::kInt64);
    for (const torch::Tensor& positions : order.split(how_.batch_size)) {
      Batch batch = set.select(positions);
      batch.inputs = Augmentation::draw(how_.augmentation, augmentations_)(batch.inputs);
      velocity_ *= how_.momentum;
      velocity_ += compute_.gradient(params, batch);
      velocity_.add_scaled(how_.weight_decay, params);
      params.add_scaled(-rate, velocity_);
    }
  }

 private:
  Training how_;
  const Compute& compute_;
  Stream& shuffles_;
  Stream& augmentations_;
  Params velocity_;
};

}  // namespace

Schema<UnionTraining> UnionTraining::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return {
      {"rate", &UnionTraining::rate, "learning rate of the models that train on images",
       Constraint::positive()},
      {"set_batch_size", &UnionTraining::set_batch_size, "synthetic images in a batch that models train on",
       count},
      {"server_epochs", &UnionTraining::server_epochs,
       "passes of the server's model over the images; the second half at a tenth of the rate", count},
      {"server_momentum", &UnionTraining::server_momentum, "momentum of the server's model",
       Constraint::between(0, 1)},
      {"server_weight_decay", &UnionTraining::server_weight_decay, "weight decay of the server's model",
       Constraint::at_least(0)},
  };
}

Schema<Condensation> Condensation::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return Schema<Condensation>{
      {"initialisations", &Condensation::initialisations,
       "K: random models that the images are matched on, in turn", count},
      {"outer_steps", &Condensation::outer_steps,
       "T: points on the way of each model, at which images take steps", count},
      {"model_epochs", &Condensation::model_epochs, "passes of the model over the images from point to point",
       Constraint::between(0, 1'000'000)},
      {"momentum", &Condensation::momentum, "momentum of the client's models", Constraint::between(0, 1)},
  }
      .extends<UnionTraining>();
}

void condense(const Condensation& config, const std::string& augmentation, Client& client, const Batch& set,
              const std::function<bool(const Params& model)>& match) {
  Stream weights = client.streams(Purpose::kSynthetic, kWeights);
  Stream shuffles = client.streams(Purpose::kSynthetic, kShuffles);
  Stream draws = client.streams(Purpose::kSynthetic, kTrainingAugmentations);
  for (std::int64_t k = 0; k < config.initialisations; ++k) {
    Params model = client.model.initial(weights);
    SetTrainer trainer({config.set_batch_size, config.momentum, /*weight_decay=*/0, augmentation},
                       client.compute, shuffles, draws);
    for (std::int64_t point = 0; point < config.outer_steps; ++point) {
      if (!match(model)) return;
      if (point + 1 == config.outer_steps) break;
      for (std::int64_t epoch = 0; epoch < config.model_epochs; ++epoch) {
        trainer.epoch(model, set, config.rate);
      }
    }
  }
}

void train_on_set(const UnionTraining& config, const std::string& augmentation, Server& server, Batch set) {
  server.synthetic = std::move(set);
  Stream shuffles = server.streams(Purpose::kSynthetic, 0);
  Stream draws = server.streams(Purpose::kSynthetic, 1);
  SetTrainer trainer(
      {config.set_batch_size, config.server_momentum, config.server_weight_decay, augmentation},
      server.compute, shuffles, draws);
  for (std::int64_t epoch = 0; epoch < config.server_epochs; ++epoch) {
    const bool late = 2 * epoch >= config.server_epochs;
    trainer.epoch(server.params, server.synthetic, late ? config.rate / 10 : config.rate);
  }
}

void train_on_union(const UnionTraining& config, const std::string& augmentation, Server& server,
                    const Uplink& uplink) {
  const std::vector<Batch> sets = decode_sets(uplink, server.model.options());
  if (!sets.empty()) train_on_set(config, augmentation, server, union_of(sets));
}

}  // namespace fedarena
