// DSC: Zhao and Bilen, "Dataset condensation with differentiable siamese augmentation", ICML 2021
// (arXiv:2102.08259), which adds the augmentation to Zhao, Mopuri, Bilen, "Dataset condensation with gradient
// matching", ICLR 2021 (arXiv:2006.05929); augmentation = "none" is the latter. One client holds all examples
// and sends one set: a reference for what images achieve without a federation.
//
// Differs from the papers: biases and the numbers of normalisations count in the cosine distance, a row each,
// where the authors' code leaves tensors of one dimension out; a batch that models train on is augmented by
// one draw for all of its images; the server trains the run's initial weights, one model instead of twenty,
// and keeps its momentum when the rate drops. Examples are read as they are: under policy "record" that is an
// exact access.
//
// Defaults are those of the authors' public code (github.com/VICO-UoE/DatasetCondensation) for 50 images a
// class with augmentation: images start as examples; K = 1000, T = 50 points, 10 epochs between them, 256
// examples of a class, image rate 0.1 with momentum 0.5, model rate 0.01; the model's momentum of 0.5 is that
// of the code before it had the augmentation, which then dropped it (momentum = 0). The final model
// with momentum 0.9 and weight decay 5e-4 in batches of 256 for 1000 epochs. Without augmentation the code
// starts from noise and trains 300 epochs; for 10 images a class it takes T = 10 and 50 epochs, for one image
// T = 1.
#include <string>
#include <utility>

#include <fedarena/algorithm.hpp>
#include <fedarena/class_batches.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace {

using namespace fedarena;

// Kept apart from the streams of `condense` and from the one that images start from.
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;

struct Config : GradientMatching, SyntheticSets, ImageTraining, ClassMatching, Condensation {
  Config() {
    criterion = "cosine";
    image_rate = 0.1;
    augmentation = "color_crop_cutout_flip_scale_rotate";
    momentum = 0.5;
    server_epochs = 1000;
  }

  static Schema<Config> schema() {
    return Schema<Config>{}
        .extends<Condensation, ClassMatching, ImageTraining, SyntheticSets, GradientMatching>();
  }
};

// Moves the images of `set`, which are not none, so that class by class their gradients match those of the
// client's examples. An exact access.
void match_classes(const Config& config, Client& client, Batch& set) {
  ClassBatches examples(client, config.batch_size, client.streams(Purpose::kSynthetic, kRealBatches));
  const auto draw = [&](std::int64_t label) { return examples.draw(label); };
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  ImageDescent descent(config, set.inputs);
  condense(config, config.augmentation, client, set, [&](const Params& model) {
    // Classes share no image, so one step along all slopes is a step for each class.
    descent.step(slope_by_class(config, set, draw, draws, [&](const Batch& real, const Batch& own) {
      return matching_slope(config, client, model, own, client.compute.gradient(model, real));
    }));
    return true;
  });
}

class Dsc final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override {
    if (server.population == 1) return;
    throw Error(
        Complaint{.found = "dsc condenses the examples of one client, but the experiment has clients = " +
                           std::to_string(server.population),
                  .allowed = "one client",
                  .remedy = "set partition.clients = 1, in a file of its own"});
  }

  // The model is not needed: clients draw their own.
  Message broadcast(const Server& /*server*/) const override { return {}; }

  Message train(Client& client, const Message& /*downlink*/) const override {
    Batch set = initial_set(config_, client);
    if (set.size() > 0) match_classes(config_, client, set);
    return encode_set(config_, client, set);
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    train_on_union(config_, config_.augmentation, server, uplink);
  }
};

}  // namespace

FEDARENA_PLUGIN("dsc", "1.0.0") {
  registry.add<Dsc>(
      "dsc",
      {.summary = "One client condenses all examples to a few images, once; the server trains on them.",
       .citation = "Zhao and Bilen, ICML 2021, arXiv:2102.08259; Zhao et al., ICLR 2021, arXiv:2006.05929",
       .downlink = "nothing",
       .uplink = "synthetic images, labels, number of examples",
       .one_round = true,
       .requires_classes = true});
}
