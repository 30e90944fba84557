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
#include <string>
#include <utility>

#include <fedarena/algorithm.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/image_descent.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace psg {
namespace {

using namespace fedarena;

struct Config : GradientMatching, SyntheticSets, ImageTraining, Condensation {
  Config() {
    criterion = "cosine";
    images_per_class = 10;
    classes = "all";
    image_init = "noise";
    image_rate = 0.1;
    outer_steps = 10;
    model_epochs = 50;
  }

  std::int64_t real_batches = 10;
  std::int64_t batch_size = 256;
  std::string server_augmentation = "none";

  void validate() const { Augmentation::validate(server_augmentation); }
};

class Psg final : public Algorithm {
 public:
  using Config = psg::Config;
  static Schema<Config> schema() {
    return Schema<Config>{
        {"real_batches", &Config::real_batches,
         "private gradients at each point, each followed by one step of all images",
         Constraint::between(1, 1'000'000)},
        {"batch_size", &Config::batch_size, "examples in a real batch, of all classes; 0: the whole shard",
         Constraint::between(0, 10'000'000)},
        {"server_augmentation", &Config::server_augmentation,
         "augmentation of the images that the server trains on: operations joined by \"_\", of which each "
         "batch draws one, out of color, crop, cutout, flip, scale, rotate; or none"},
    }
        .extends(Condensation::schema())
        .extends(ImageTraining::schema())
        .extends(SyntheticSets::schema())
        .extends(GradientMatching::schema());
  }

  explicit Psg(Config config) : config_(std::move(config)) {}

  void start(Server& server) const override {
    if (server.rounds == 1) return;
    throw Error(Complaint{
        .found = "psg makes its sets once, but the experiment has rounds = " + std::to_string(server.rounds),
        .allowed = "one round",
        .remedy = "set experiment.rounds = 1, in a file of its own"});
  }

  // The model is not needed: clients draw their own.
  Message broadcast(const Server& /*server*/) const override { return {}; }

  Message train(Client& client, const Message& /*downlink*/) const override {
    Batch set = initial_set(config_, client);
    if (set.size() > 0) match_private_gradients(client, set);
    return encode_set(config_, client, set);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    train_on_union(config_, config_.server_augmentation, server, uplink);
  }

 private:
  void match_private_gradients(Client& client, Batch& set) const {
    ImageDescent descent(config_, set.inputs);
    condense(config_, "none", client, set, [&](const Params& model) {
      for (std::int64_t batch = 0; batch < config_.real_batches; ++batch) {
        const Params target = client.oracle.gradient(model, {.batch_size = config_.batch_size});
        descent.step(matching_slope(config_, client, model, set, target));
      }
    });
  }

  Config config_;
};

}  // namespace
}  // namespace psg

FEDARENA_PLUGIN("psg", "1.0.0") {
  registry.add<psg::Psg>(
      "psg", {.summary = "Clients condense privatised gradients to a few images, once; the server trains on "
                         "them.",
              .citation = "Chen, Kerkouche, Fritz, NeurIPS 2022, arXiv:2211.04446",
              .downlink = "nothing",
              .uplink = "synthetic images, labels, number of examples",
              .requires_policy = "record"});
}
