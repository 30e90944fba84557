// FedDM: Xiong, Wang, Cheng, Yu, Hsieh, "FedDM: Iterative distribution matching for communication-efficient
// federated learning", CVPR 2023 (arXiv:2207.09653).
//
// Differs from the paper: weights near the global model are a standard normal step that is cut to length rho
// where it is longer, which in the dimensions of a model is the truncated normal distribution but for
// rounding; the server takes plain SGD steps along the union of the sets; augmentation is an option here. The
// server leaves rho with its last step, as FedLAP does. Examples are read as they are, class by class, which
// is an exact access under policy "record"; with class_means = "votes" every example votes for the mean
// features of its class in each iteration, which is private there: features of examples are then cut to
// feature_bound, those of images are not, so that images meet the mean of cut ones. The paper's own private
// version, with noisy gradients of the images' loss, is not here.
//
// Defaults: rho 5, 10 images a class that start as examples, 1000 iterations, 256 examples of a class in
// each, image rate 1 with momentum 0.5; on the server 500 epochs in batches of 256 at rate 0.01. They are
// those of a public re-implementation (github.com/m13891290332/fedDM), whose server has momentum 0.9 and
// weight decay 5e-4 besides and no radius; we could not check them against the text of the paper.
#include <optional>
#include <string>
#include <utility>

#include <torch/autograd.h>

#include <fedarena/class_batches.hpp>
#include <fedarena/features.hpp>
#include <fedarena/local_training.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace {

using namespace fedarena;

// Kept apart from the stream that images start from.
constexpr std::uint64_t kWeights = 1;
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;

// The rate is that of the server's model.
struct Config : RateSchedule, SyntheticSets, ImageTraining, ClassMatching, SetTraining {
  Config() {
    rate = 0.01;
    images_per_class = 10;
    server_epochs = 500;
    server_batch_size = 256;
  }

  double rho = 5;
  std::int64_t iterations = 1000;
  std::string class_means = "examples";
  double feature_bound = 10;

  bool votes() const { return class_means == "votes"; }

  void validate() const {
    ClassMatching::validate();
    if (votes() && augmentation != "none") {
      throw Error(Complaint{.found = "class_means is \"votes\", but augmentation is \"" + augmentation + "\"",
                            .allowed = "augmentation = \"none\"",
                            .remedy = "the mean features of a class cannot be augmented like its images"});
    }
  }

  static Schema<Config> schema() {
    return Schema<Config>{
        {"rho", &Config::rho,
         "radius of the ball around the global model that clients draw weights from and the server stays in",
         Constraint::positive()},
        {"iterations", &Config::iterations,
         "steps of a client's images in a round, each at weights of its own",
         Constraint::between(1, 1'000'000)},
        {"class_means", &Config::class_means,
         "where the mean features of a client's classes come from: its raw examples, read once (an exact "
         "access), or a sum of votes of all its examples in each iteration, which the policy on records "
         "makes private",
         Constraint::one_of({"examples", "votes"})},
        {"feature_bound", &Config::feature_bound, "with votes: norm to which each example's features are cut",
         Constraint::positive()},
    }
        .extends<SetTraining, ClassMatching, ImageTraining, SyntheticSets, RateSchedule>();
  }
};

// A model cut before its last affine map, at some weights.
class Embedding {
 public:
  Embedding(const Model& body, const Params& at)
      : body_(body), weights_(feature_weights(body, at)), head_(at[at.size() - 2]) {}

  // Of features.
  std::int64_t dimension() const { return head_.size(1); }
  torch::Tensor features(const torch::Tensor& images) const { return body_.forward(weights_, images); }

  // |d|^2 + |A d|^2: means of logits differ by A d where those of features differ by d, the bias falling out.
  torch::Tensor distance(const torch::Tensor& real, const torch::Tensor& own) const {
    const torch::Tensor difference = own - real;
    return difference.square().sum() + head_.mv(difference).square().sum();
  }

 private:
  const Model& body_;
  Params weights_;
  torch::Tensor head_;  // the matrix of that map
};

// A standard normal step from the centre, cut to length rho where it is longer: in as many dimensions as a
// model has, no other step of the normal distribution truncated to the ball has a chance.
Params weights_near(const Params& centre, double rho, Stream& stream) {
  Params step(centre.layout(), normal(stream, {centre.flat().numel()}).to(centre.flat().options()));
  const double length = norm(step);
  if (length > rho) step *= rho / length;
  return step + centre;
}

// The mean features of classes under one draw of weights, from the sum of votes; a row in place of a class's
// examples, nothing for a class whose noisy count is below 1.
ClassExamples voted_means(const Config& config, Client& client, const Embedding& embedding) {
  const double bound = config.feature_bound;
  const ClassMeans means = noisy_class_means(client, embedding.dimension(), [&](const torch::Tensor& inputs) {
    const torch::NoGradGuard constant;
    const torch::Tensor own = embedding.features(inputs) / bound;
    return own / own.norm(2, {1}, /*keepdim=*/true).clamp_min(1);
  });
  return [features = means.features * bound, weights = means.weights](std::int64_t label) {
    const std::int64_t count = weights[label].item<double>() > 0 ? 1 : 0;
    return Batch{features.narrow(0, label, count), torch::full({count}, label, torch::kInt64)};
  };
}

// Moves the images of `set`, which are not none, so that class by class their mean features and mean logits
// agree with those of the client's examples, at weights near `start`. An exact access. Error when the model
// does not end in an affine map, whose inputs the features are.
void match_distributions(const Config& config, Client& client, const Params& start, Batch& set) {
  const Model body = feature_model(client.model, "feddm");
  std::optional<ClassBatches> examples;
  if (!config.votes())
    examples.emplace(client, config.batch_size, client.streams(Purpose::kSynthetic, kRealBatches));
  const ClassExamples draw = [&](std::int64_t label) { return examples->draw(label); };
  Stream weights = client.streams(Purpose::kSynthetic, kWeights);
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  ImageDescent descent(config, set.inputs);
  for (std::int64_t iteration = 0; iteration < config.iterations; ++iteration) {
    client.compute.stop_if_interrupted();
    const Params at = weights_near(start, config.rho, weights);
    const Embedding embedding(body, at);
    const ClassExamples compared = config.votes() ? voted_means(config, client, embedding) : draw;
    descent.step(slope_by_class(config, set, compared, draws, [&](const Batch& real, const Batch& own) {
      const torch::Tensor features = config.votes() ? real.inputs : embedding.features(real.inputs).detach();
      const torch::AutoGradMode enabled(true);
      const torch::Tensor leaf = own.inputs.detach().requires_grad_();
      const torch::Tensor distance = embedding.distance(features.mean(0), embedding.features(leaf).mean(0));
      client.observed.add("matching-loss", distance.item<double>());
      return torch::autograd::grad({distance}, {leaf})[0];
    }));
  }
}

class FedDm final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override { (void)feature_model(server.model, "feddm"); }

  Message train(Client& client, const Message& downlink) const override {
    Batch set = initial_set(config_, client);
    if (set.size() > 0) match_distributions(config_, client, downlink[kModel], set);
    return encode_set(config_, client, set);
  }

  // Where labels leave a client without images, it asks for nothing.
  std::optional<AccessPlan> access_plan(const Client& /*client*/) const override {
    return config_.votes() ? std::optional(AccessPlan{.votes = config_.iterations}) : std::nullopt;
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    const std::vector<Batch> sets = decode_sets(uplink, server.model.options());
    if (sets.empty()) return;
    server.synthetic = union_of(sets);
    const Params start = server.params;
    const double rate = config_.rate_in(server.round, server.rounds);
    SetDescent descent(config_.server_batch_size, server.compute, server.synthetic,
                       server.streams(Purpose::kSynthetic));
    for (std::int64_t epoch = 0; epoch < config_.server_epochs; ++epoch) {
      if (!descent.next(server.params, start, config_.rho, rate)) break;
    }
  }
};

}  // namespace

FEDARENA_PLUGIN("feddm", "1.0.0") {
  registry.add<FedDm>(
      "feddm", {.summary = "Clients send synthetic images whose features agree with their own; the server "
                           "descends on them.",
                .citation = "Xiong et al., CVPR 2023, arXiv:2207.09653",
                .downlink = "model",
                .uplink = "synthetic images, labels, number of examples",
                .requires_classes = true});
}
