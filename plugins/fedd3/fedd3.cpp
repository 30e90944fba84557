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
// stops after one step, because every prediction among one class is right: it sends its starting images, all
// but the examples themselves.
//
// Defaults are those of the code: images start as examples; four hidden layers, variance 2 of weights and
// 0.01 of biases, one-hot targets less 1/classes, ridge 1e-6 of the mean of the kernel's diagonal, Adam at
// 4e-3 until the accuracy on the target batch of 5000 examples exceeds 0.995, 2000 steps at most. Images of a
// class (10 here) are a setting of each of its experiments. The server's defaults are those of `fedgm`.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <torch/autograd.h>

#include <fedarena/adam.hpp>
#include <fedarena/class_batches.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/synthetic_sets.hpp>

#include "tangent_kernel.hpp"

namespace fedd3 {
namespace {

using namespace fedarena;

// Kept apart from the stream that images start from.
constexpr std::uint64_t kTargets = 2;

struct Config : SyntheticSets, UnionTraining {
  Config() { images_per_class = 10; }

  std::int64_t iterations = 2000;
  double adam_rate = 4e-3;
  std::int64_t target_size = 5000;
  double stop_accuracy = 0.995;
  double ridge = 1e-6;

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
        .extends<UnionTraining, SyntheticSets>();
  }
};

// What a client's inputs are scaled by, channel by channel; all numbers alike where there are no channels.
struct Scale {
  explicit Scale(const torch::Tensor& inputs) {
    std::vector<std::int64_t> others;
    for (std::int64_t d = 0; d < inputs.dim(); ++d) {
      if (d != 1 || inputs.dim() < 3) others.push_back(d);
    }
    mean = inputs.mean(others, /*keepdim=*/true);
    deviation = (inputs - mean).square().mean(others, /*keepdim=*/true).sqrt();
    deviation = torch::where(deviation > 0, deviation, torch::ones_like(deviation));
  }
  torch::Tensor operator()(const torch::Tensor& inputs) const {
    return ((inputs.to(torch::kFloat64) - mean) / deviation).flatten(1);
  }
  torch::Tensor back(const torch::Tensor& scaled, const torch::Tensor& like) const {
    return (scaled.view_as(like) * deviation + mean).to(like.scalar_type());
  }
  torch::Tensor mean, deviation;
};

torch::Tensor centred_one_hot(const torch::Tensor& labels, std::int64_t classes) {
  const auto shared = static_cast<double>(classes);
  return labels.unsqueeze(1).eq(torch::arange(classes, labels.options())).to(torch::kFloat64) - 1 / shared;
}

// Moves the images of `set`, which are not none, so that kernel ridge regression on them predicts the
// client's examples; nothing where it has none. An exact access. The client observes "kernel-loss" at each
// step.
void induce(const Config& config, Client& client, Batch& set) {
  const Batch all = client.oracle.exact_batch();
  if (all.size() == 0) return;
  const Scale scale(all.inputs.to(torch::kFloat64));
  const std::int64_t classes = client.model.num_classes(),
                     held = std::get<0>(at::_unique(all.targets)).size(0);
  const std::int64_t share =
      config.target_size > 0 ? std::max<std::int64_t>(1, config.target_size / held) : 0;
  ClassBatches examples(client, share, client.streams(Purpose::kSynthetic, kTargets));
  const torch::Tensor own_targets = centred_one_hot(set.targets, classes);
  const torch::Tensor identity = torch::eye(set.size(), own_targets.options());
  torch::Tensor images = scale(set.inputs);
  Adam adam;
  for (std::int64_t step = 1; step <= config.iterations; ++step) {
    client.compute.stop_if_interrupted();
    std::vector<Batch> parts;
    for (std::int64_t label = 0; label < classes; ++label) parts.push_back(examples.draw(label));
    const Batch batch = union_of(parts);
    const torch::Tensor targets = centred_one_hot(batch.targets, classes);
    const torch::AutoGradMode enabled(true);
    const torch::Tensor leaf = images.detach().requires_grad_();
    const torch::Tensor own = tangent_kernel({}, leaf, leaf);
    const torch::Tensor ridge = config.ridge * own.trace() / static_cast<double>(set.size()) * identity;
    const torch::Tensor predicted =
        tangent_kernel({}, scale(batch.inputs), leaf).mm(at::linalg_solve(own + ridge, own_targets));
    const torch::Tensor loss = (predicted - targets).square().mean() / 2;
    const torch::Tensor right = predicted.argmax(1).eq(batch.targets);
    adam.step(images, torch::autograd::grad({loss}, {leaf})[0], config.adam_rate);
    client.observed.add("kernel-loss", loss.item<double>());
    if (right.to(torch::kFloat64).mean().item<double>() > config.stop_accuracy) break;
  }
  set.inputs = scale.back(images, set.inputs);
}

class FedD3 final : public Configured<Config> {
 public:
  using Configured::Configured;

  // The model is not needed: the kernel has none.
  Message broadcast(const Server& /*server*/) const override { return {}; }

  Message train(Client& client, const Message& /*downlink*/) const override {
    Batch set = initial_set(config_, client);
    if (set.size() > 0) induce(config_, client, set);
    return encode_set(config_, client, set);
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    train_on_union(config_, "none", server, uplink);
  }
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
       .one_round = true,
       .requires_classes = true});
}
