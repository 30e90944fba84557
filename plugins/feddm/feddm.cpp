// FedDM: Xiong, Wang, Cheng, Yu, Hsieh, "FedDM: Iterative distribution matching for communication-efficient
// federated learning", CVPR 2023 (arXiv:2207.09653).
//
// Differs from the paper: weights near the global model are a standard normal step that is cut to length rho
// where it is longer, which in the dimensions of a model is the truncated normal distribution but for
// rounding; the server takes plain SGD steps along the union of the sets; augmentation is an option here. The
// server leaves rho with its last step, as FedLAP does. Examples are read as they are, class by class, which
// is an exact access under policy "record"; with class_means = "votes" every example votes for the mean
// features of its class in each iteration, which is private there. The paper's own private version, with
// noisy gradients of the images' loss, is not here.
//
// Defaults: rho 5, 10 images a class that start as examples, 1000 iterations, 256 examples of a class in
// each, image rate 1 with momentum 0.5; on the server 500 epochs in batches of 256 at rate 0.01. They are
// those of a public re-implementation (github.com/m13891290332/fedDM), whose server has momentum 0.9 and
// weight decay 5e-4 besides and no radius; we could not check them against the text of the paper.
#include "feddm.hpp"

namespace feddm {

using namespace fedarena;

Schema<Config> Config::schema() {
  return Schema<Config>{
      {"rho", &Config::rho,
       "radius of the ball around the global model that clients draw weights from and the server stays in",
       Constraint::positive()},
      {"iterations", &Config::iterations, "steps of a client's images in a round, each at weights of its own",
       Constraint::between(1, 1'000'000)},
      {"class_means", &Config::class_means,
       "where the mean features of a client's classes come from: its raw examples, read once (an exact "
       "access), or a sum of votes of all its examples in each iteration, which the policy on records makes "
       "private",
       Constraint::one_of({"examples", "votes"})},
      {"feature_bound", &Config::feature_bound, "with votes: norm to which each example's features are cut",
       Constraint::positive()},
  }
      .extends(SetTraining::schema())
      .extends(ClassMatching::schema())
      .extends(ImageTraining::schema())
      .extends(SyntheticSets::schema())
      .extends(RateSchedule::schema());
}

void Config::validate() const {
  ClassMatching::validate();
  if (votes() && augmentation != "none") {
    throw Error(Complaint{.found = "class_means is \"votes\", but augmentation is \"" + augmentation + "\"",
                          .allowed = "augmentation = \"none\"",
                          .remedy = "the mean features of a class cannot be augmented like its images"});
  }
}

namespace {

class FedDm final : public Algorithm {
 public:
  using Config = feddm::Config;
  static Schema<Config> schema() { return Config::schema(); }

  explicit FedDm(Config config) : config_(std::move(config)) {}

  Message train(Client& client, const Message& downlink) const override {
    Batch set = initial_set(config_, client);
    if (set.size() > 0) match_distributions(config_, client, downlink[kModel], set);
    return encode_set(config_, client, set);
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

 private:
  Config config_;
};

}  // namespace
}  // namespace feddm

FEDARENA_PLUGIN("feddm", "1.0.0") {
  registry.add<feddm::FedDm>(
      "feddm", {.summary = "Clients send synthetic images whose features agree with their own; the server "
                           "descends on them.",
                .citation = "Xiong et al., CVPR 2023, arXiv:2207.09653",
                .downlink = "model",
                .uplink = "synthetic images, labels, number of examples"});
}
