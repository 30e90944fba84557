// FedD3: Song, Liu, Chen, Festag, Trinitis, Schulz, Knoll, "Federated learning via decentralized dataset
// distillation in resource-constrained edge environments", 2022 (arXiv:2208.11311), with kernel inducing
// points (Nguyen, Chen, Lee, "Dataset meta-learning from kernel ridge-regression", ICLR 2021). A client moves
// a few images so that kernel ridge regression on them predicts its examples, by the neural tangent kernel of
// a fully connected ReLU network, and sends them once; the server trains on the union.
//
// Differs from the authors' code (github.com/rruisong/FedD3): images are sent in the run's normalisation,
// where the code leaves each client's in its own; a class with fewer examples than its share of a target
// batch gives all of them, where the code stops; the server trains by SGD, the code by Adam. Examples are
// read as they are: under policy "record" that is an exact access. As in the code, a client with one class
// stops after one step, because every prediction among one class is right: it sends its starting images,
// which are examples.
//
// Defaults are those of the code: images start as examples; four hidden layers, variance 2 of weights and
// 0.01 of biases, one-hot targets less 1/classes, ridge 1e-6 of the mean of the kernel's diagonal, Adam at
// 4e-3 until the accuracy on the target batch of 5000 examples exceeds 0.995, 2000 steps at most. Images of a
// class (10 here) are a setting of each of its experiments. The server's defaults are those of `fedgm`.
#include <utility>

#include <fedarena/algorithm.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/synthetic_sets.hpp>

#include "inducing_points.hpp"

namespace fedd3 {
namespace {

using namespace fedarena;

class FedD3 final : public Algorithm {
 public:
  using Config = fedd3::Config;
  static Schema<Config> schema() {
    const Constraint count = Constraint::between(1, 1'000'000);
    return Schema<Config>{
        {"iterations", &Config::iterations, "steps of a client's images, at most", count},
        {"adam_rate", &Config::adam_rate, "rate of Adam on the images", Constraint::positive()},
        {"target_size", &Config::target_size,
         "examples that are predicted in a step, as many of each class; 0: all (any number is an exact "
         "access)",
         Constraint::between(0, 10'000'000)},
        {"stop_accuracy", &Config::stop_accuracy, "accuracy on these examples above which steps end",
         Constraint::between(0, 1)},
        {"ridge", &Config::ridge, "ridge of the regression, in units of the mean of the kernel's diagonal",
         Constraint::positive()},
    }
        .extends(UnionTraining::schema())
        .extends(SyntheticSets::schema());
  }

  explicit FedD3(Config config) : config_(std::move(config)) {}

  // The model is not needed: the kernel has none.
  Message broadcast(const Server& /*server*/) const override { return {}; }

  Message train(Client& client, const Message& /*downlink*/) const override {
    Batch set = initial_set(config_, client);
    if (set.size() > 0) induce(config_, client, set);
    return encode_set(config_, client, set);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    train_on_union(config_, "none", server, uplink);
  }

 private:
  Config config_;
};

}  // namespace
}  // namespace fedd3

FEDARENA_PLUGIN("fedd3", "1.0.0") {
  registry.add<fedd3::FedD3>(
      "fedd3",
      {.summary = "Clients send a few images from which kernel regression predicts their examples, once; the "
                  "server trains on them.",
       .citation = "Song et al., 2022, arXiv:2208.11311",
       .downlink = "nothing",
       .uplink = "synthetic images, labels, number of examples",
       .one_round = true});
}
