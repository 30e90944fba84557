// FedGM: Chen, Zhou, Jiang, "One-shot federated learning with label differential privacy", Electronics
// 13(10), 2024 (doi 10.3390/electronics13101815). Each client condenses its examples class by class by
// matching gradients (Zhao, Mopuri, Bilen, ICLR 2021), whose real side are the examples nearest to the
// centres of clusters (Liu et al., "DREAM", ICCV 2023). It sends 8 bits a pixel, once; the server trains on
// the union.
//
// With `label_epsilon`, Algorithms 2 to 4: half of each client's set goes up with labels by plain randomised
// response; the model that the server trains on these goes down, and its prediction for an image is the prior
// of RRWithPrior (Ghazi, Golowich, Kumar, Manurangsi, Zhang, NeurIPS 2021) for the labels of the other half.
// The published claim is label privacy for the *synthetic* sets: neighbours that differ in the label of one
// image. No example is protected by it. Images were condensed class by class from examples under their true
// labels, one changed label changes the images of two classes, and they may start as raw examples; so the
// ledger holds an exact access and epsilon is infinite, the number of the response being nominal. Besides,
// labels of a balanced set are known but for their order, which the images show; and where a client has one
// class, all of its labels are the same and a majority vote undoes the response. Label privacy of the
// examples themselves is the policy "label", under which FedGM runs as it is, with label_epsilon = 0: in one
// round, or in the two stages of that policy in two, each of which condenses anew what clients then hold.
//
// Differs from the paper: models are updated after the loop over classes, as in Zhao et al., where Algorithm
// 1 has it inside; biases and the numbers of normalisations count in the cosine distance, a row each; k-means
// starts by k-means++ among a random part of a class and takes five of Lloyd's steps. Images start as random
// examples in all settings, where the paper takes representative ones outside the IID setting. The server
// trains the run's initial weights, anew in each round; the paper has no rate, batch or number of epochs for
// it.
//
// Defaults: 300 models of 100 points each, as we read "300 matching iterations, inside each 100 inner loops",
// with a pass over the images from point to point; 128 examples a class, clustered every 10 points; 50 images
// a class (the paper has 10 in the IID setting), image rate 0.01; models at rate 0.01; the server's 300
// epochs in batches of 256 with momentum 0.9 and weight decay 5e-4 are Zhao et al.'s.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fedarena/class_batches.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/features.hpp>
#include <fedarena/k_means.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kInitial{"initial_model"};

// Kept apart from the streams of `condense` and from the one that images start from.
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;
constexpr std::uint64_t kClusters = 6;

// On MNIST's pixels, further steps lower the mean squared distance to the centres by 2 %.
constexpr int kLloydSteps = 5;
// k-means++ chooses among so many random examples for each cluster.
constexpr std::int64_t kStartsPerCluster = 8;

struct Config : GradientMatching, SyntheticSets, ImageTraining, ClassMatching, Condensation {
  Config() {
    criterion = "cosine";
    image_encoding = "uint8";
    image_rate = 0.01;
    image_momentum = 0;
    batch_size = 128;
    initialisations = 300;
    outer_steps = 100;
    model_epochs = 1;
  }

  std::string real_images = "representative";
  std::int64_t cluster_every = 10;
  double label_epsilon = 0;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"real_images", &Config::real_images,
         "which examples of a class its images are compared with: those nearest to the centres of batch_size "
         "clusters, or random ones",
         Constraint::one_of({"representative", "random"})},
        {"cluster_every", &Config::cluster_every,
         "points on the way of a model from one clustering to the next", Constraint::between(1, 1'000'000)},
        {"label_epsilon", &Config::label_epsilon,
         "epsilon of the randomised response on the labels of synthetic images, which makes two rounds of "
         "one and protects no example; 0: labels are sent as they are",
         Constraint::between(0, 64)},
    }
        .extends<Condensation, ClassMatching, ImageTraining, SyntheticSets, GradientMatching>();
  }
};

// Of each class the examples nearest to the centres of its clusters; all of a class that has no more.
class Representatives {
 public:
  Representatives(Client& client, std::int64_t count)
      : features_(feature_model(client.model, "fedgm")),
        compute_(client.compute.on(features_)),
        count_(count),
        draws_(client.streams(Purpose::kSynthetic, kClusters)) {
    ClassBatches all(client, 0, client.streams(Purpose::kSynthetic, kRealBatches));
    for (std::int64_t label = 0; label < client.model.num_classes(); ++label)
      classes_.push_back(all.draw(label));
    chosen_ = classes_;
  }

  // Anew, by the features of this model.
  void choose(const Params& model) {
    const Params weights = feature_weights(features_, model);
    for (std::size_t label = 0; label < classes_.size(); ++label) {
      const Batch& all = classes_[label];
      if (count_ == 0 || all.size() <= count_) continue;
      const torch::Tensor points = compute_->outputs(weights, all.inputs);
      chosen_[label] = all.select(nearest_points(points, lloyd(points, start(points), kLloydSteps).centres));
    }
  }

  Batch of(std::int64_t label) const { return chosen_[static_cast<std::size_t>(label)]; }

 private:
  torch::Tensor start(const torch::Tensor& points) {
    const std::int64_t most = std::min(points.size(0), kStartsPerCluster * count_);
    const auto drawn = torch::tensor(draws_.sample_without_replacement(points.size(0), most), torch::kInt64);
    const torch::Tensor some = points.index_select(0, drawn.to(points.device()));
    return some.index_select(0, spread_points(some, count_, draws_));
  }

  Model features_;
  std::unique_ptr<const Compute> compute_;
  std::int64_t count_;
  Stream draws_;
  std::vector<Batch> classes_, chosen_;
};

// What the client observed of the distance between two calls, under the name of a tenth of the way.
class Tenths {
 public:
  Tenths(Observations& observed, std::int64_t steps) : observed_(observed), steps_(steps) {}

  void step_done() {
    const auto found = observed_.values().find("matching-loss");
    const Observations::Values now =
        found == observed_.values().end() ? Observations::Values() : found->second;
    if (now.count > seen_.count) {
      observed_.add("matching-loss-" + std::to_string(10 * done_ / steps_ + 1),
                    {now.sum - seen_.sum, now.count - seen_.count});
    }
    seen_ = now;
    ++done_;
  }

 private:
  Observations& observed_;
  std::int64_t steps_, done_ = 0;
  Observations::Values seen_;
};

// A client's condensed set: images of each of its classes whose gradients match those of its examples along
// the way of models that start anew. An exact access. The client observes the distance as "matching-loss"
// and, for each tenth of the models, as "matching-loss-1" to "matching-loss-10". Error when examples are to
// be clustered and the model does not end in an affine map.
Batch condensed_set(const Config& config, Client& client) {
  Batch set = initial_set(config, client);
  if (set.size() == 0) return set;
  ClassExamples examples;
  std::shared_ptr<Representatives> representatives;
  if (config.real_images == "representative") {
    representatives = std::make_shared<Representatives>(client, config.batch_size);
    examples = [representatives](std::int64_t label) { return representatives->of(label); };
  } else {
    const Stream draws = client.streams(Purpose::kSynthetic, kRealBatches);
    examples = [random = std::make_shared<ClassBatches>(client, config.batch_size, draws)](
                   std::int64_t label) { return random->draw(label); };
  }
  Stream augmentations = client.streams(Purpose::kSynthetic, kAugmentations);
  ImageDescent descent(config, set.inputs);
  Tenths tenths(client.observed, config.initialisations * config.outer_steps);
  std::int64_t point = 0;
  condense(config, config.augmentation, client, set, [&](const Params& model) {
    if (representatives && point % config.outer_steps % config.cluster_every == 0)
      representatives->choose(model);
    ++point;
    // Classes share no image, so one step along all slopes is a step for each class.
    descent.step(
        slope_by_class(config, set, examples, augmentations, [&](const Batch& real, const Batch& own) {
          return matching_slope(config, client, model, own, client.compute.gradient(model, real));
        }));
    tenths.step_done();
    return true;
  });
  return set;
}

Batch half_of(const Batch& set, std::int64_t first) {
  return set.select(torch::arange(first, set.size(), 2, torch::kInt64));
}

void keep(Message& state, const Batch& set) {
  state.put(kImages, set.inputs);
  state.put(kLabels, set.targets);
}

class FedGm final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override {
    (void)feature_model(server.model, "fedgm");
    if (server.rounds > 2 || (in_halves() && server.rounds != 2)) {
      throw Error(Complaint{
          .found = "fedgm sends its sets once, but the experiment has rounds = " +
                   std::to_string(server.rounds) + " and label_epsilon = " + to_text(config_.label_epsilon),
          .allowed = in_halves() ? "two rounds, one for each half of the sets"
                                 : "one round, or two, in which clients condense what they then hold",
          .remedy = std::string("set experiment.rounds = ") + (in_halves() ? "2" : "1") +
                    ", in a file of its own"});
    }
    if (server.rounds == 2) server.state.put(kInitial, server.params);
  }

  // Only the prior needs a model.
  Message broadcast(const Server& server) const override {
    return server.round < 2 ? Message() : Message{{kModel, server.params}};
  }

  Message train(Client& client, const Message& downlink) const override {
    if (!in_halves()) return encode_set(config_, client, condensed_set(config_, client));
    Batch half;
    if (client.state.contains(kImages.name)) {
      half = decode_set(client.state, client.model.options());
    } else {  // the first round, or the first of this client
      const Batch set = condensed_set(config_, client);
      // Of an odd number a class, halves have one more of every other class: of which, differs by client.
      const bool odd = config_.images_per_class % 2 == 1;
      const auto first = odd ? static_cast<std::int64_t>(client.streams(Purpose::kAlgorithm).below(2)) : 0;
      half = half_of(set, client.round == 1 ? first : 1 - first);
      if (client.round == 1) keep(client.state, half_of(set, 1 - first));
    }
    if (half.size() > 0) {
      half.targets = client.oracle.randomised_response(half.targets, prior_of(client, downlink, half.inputs),
                                                       config_.label_epsilon);
    }
    return encode_set(config_, client, half);
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    std::vector<Batch> sets = decode_sets(uplink, server.model.options());
    if (sets.empty()) return;
    if (in_halves() && server.round == 2 && server.state.contains(kImages.name))
      sets.insert(sets.begin(), decode_set(server.state, server.model.options()));
    const Batch all = union_of(sets);
    if (in_halves()) keep(server.state, all);
    if (server.rounds == 2) server.params = server.state[kInitial];
    train_on_set(config_, config_.augmentation, server, all);
  }

 private:
  bool in_halves() const { return config_.label_epsilon > 0; }

  // The probabilities that the server's model gives the classes of each image; none in the first round.
  static torch::Tensor prior_of(const Client& client, const Message& downlink, const torch::Tensor& images) {
    if (!downlink.contains(kModel.name)) return {};
    return client.compute.outputs(downlink[kModel], images).to(torch::kFloat64).softmax(1);
  }
};

}  // namespace

FEDARENA_PLUGIN("fedgm", "1.0.0") {
  registry.add<FedGm>(
      "fedgm",
      {.summary = "Clients condense their examples to a few images, against those in the middle of clusters; "
                  "the server trains on them.",
       .citation = "Chen, Zhou, Jiang, Electronics 13(10), 2024, doi 10.3390/electronics13101815",
       .downlink = "nothing, or the model in the second of two rounds",
       .uplink = "synthetic images, labels, number of examples",
       .requires_classes = true});
}
