// PSG: Chen, Kerkouche, Fritz, "Private set generation with discriminative information", NeurIPS 2022
// (arXiv:2211.04446). Dataset condensation whose real gradients are privatised: batches of all classes, drawn
// at random, each example's gradient clipped, noise added once to their sum. The images take a step for each
// of them, all at once. What a client sends is post-processing of these gradients.
//
// Differs from the authors' code (github.com/DingfanChen/Private-Set): biases and the numbers of
// normalisations count in the cosine distance, a row each, where the code leaves tensors of one dimension
// out; exactly `initialisations` models are drawn, where the code's loop draws one more than it accounts;
// noise has a stream of its own, where the code's generator is re-seeded by the clock whenever a model is
// made; the server trains the run's initial weights, one model instead of three, on a batch at a time
// augmented by one draw, by the operations of siamese augmentation with their smaller rotations. With several
// clients each makes a set of its own examples, once, and the server trains on the union; the paper has one.
//
// Defaults are those of the code for 10 images a class: images start as noise; 1000 models, 10 points on the
// way of each and 50 epochs between them, 10 real batches of 256 at each point, image rate 0.1 with momentum
// 0.5, model rate 0.01; the final model with momentum 0.9 and weight decay 5e-4 in batches of 256 for 300
// epochs, without augmentation. For other numbers of images the code takes points and epochs 1 and 1 (1
// image), 20 and 25 (20), 30 and 20 (30), 40 and 15 (40), 50 and 10 (50). On MNIST and Fashion-MNIST the
// final model is augmented by crop, scale and rotation, for 1000 epochs. The clip norm is 0.1.
#include <optional>
#include <string>
#include <utility>

#include <fedarena/algorithm.hpp>
#include <fedarena/private_set.hpp>

namespace {

using namespace fedarena;

struct Config : PrivateSet {
  std::string server_augmentation = "none";

  void validate() const { Augmentation::validate(server_augmentation); }

  static Schema<Config> schema() {
    return Schema<Config>{
        {"server_augmentation", &Config::server_augmentation,
         "augmentation of the images that the server trains on: operations joined by \"_\", of which each "
         "batch draws one, out of color, crop, cutout, flip, scale, rotate; or none"},
    }
        .extends<PrivateSet>();
  }
};

class Psg final : public Configured<Config> {
 public:
  using Configured::Configured;

  // The model is not needed: clients draw their own.
  Message broadcast(const Server& /*server*/) const override { return {}; }

  Message train(Client& client, const Message& /*downlink*/) const override {
    const Batch set = private_set(config_, client);
    return encode_set(config_, client, set);
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return private_set_plan(config_, client);
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    train_on_union(config_, config_.server_augmentation, server, uplink);
  }
};

}  // namespace

FEDARENA_PLUGIN("psg", "1.0.0") {
  registry.add<Psg>(
      "psg", {.summary = "Clients condense privatised gradients to a few images, once; the server trains on "
                         "them.",
              .citation = "Chen, Kerkouche, Fritz, NeurIPS 2022, arXiv:2211.04446",
              .downlink = "nothing",
              .uplink = "synthetic images, labels, number of examples",
              .requires_policy = "record",
              .one_round = true,
              .requires_classes = true});
}
