// FedLAP and FedLAP-DP: Wang, Chen, Kerkouche, Fritz, "FedLAP-DP: Federated learning by sharing
// differentially private loss approximations", PoPETs 2024(3), Algorithms 1 to 3 (arXiv:2302.01068).
//
// Differs from the paper: the walk of a client takes at most `outer_steps` turns of the while loop and
// several real batches at each point, as the authors' code does; the server goes through the sets at most
// `server_epochs` times, and r_k is measured after each of these, not at the start, so that no round stands
// still; clients are weighted as in Equation 14 only under server_descent = "weighted", since the code
// descends on the union (Algorithm 3 weighs them alike); models descend on images as they are, without
// augmentation. fedlap-dp is the same under policy "record", which clips and noises every gradient of
// examples, with a radius that reads no example; its synthetic sets hold all classes unless `classes =
// "held"`. Under server_calibration (Equation 20, Appendix A.1) every step of a round takes the lengths at
// the round's first model, the only ones that a client can know.
#include "fedlap.hpp"

namespace fedlap {

using namespace fedarena;

Schema<Config> Config::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return Schema<Config>{
      {"carry_images", &Config::carry_images,
       "start from the images of the client's last round, where it has some"},
      {"trajectories", &Config::trajectories, "R_i: walks from the global model in a round", count},
      {"outer_steps", &Config::outer_steps, "points on each walk; it ends earlier where it leaves the radius",
       count},
      {"real_batches", &Config::real_batches, "gradients of real batches at each point", count},
      {"image_updates", &Config::image_updates, "R_b: updates of the images for each of them", count},
      {"model_steps", &Config::model_steps, "R_l: steps of the local model on its images from point to point",
       Constraint::between(0, 1'000'000)},
      {"batch_size", &Config::batch_size, "examples in a real batch; 0: the whole shard",
       Constraint::between(0, 10'000'000)},
      {"augmentation", &Config::augmentation,
       "differentiable siamese augmentation of real and synthetic batches: operations joined by \"_\", of "
       "which each real batch draws one, out of color, crop, cutout, flip, scale, rotate; or none"},
      {"radius", &Config::radius,
       "r: Euclidean distance from the global model up to which clients approximate; what they measure is at "
       "most this",
       Constraint::positive()},
      {"server_radius", &Config::server_radius,
       "r_g, how far the server may go: the least, median or largest of what clients measure on their "
       "examples (see region), the constant radius, or none",
       Constraint::one_of({"min", "median", "max", "constant", "none"})},
      {"region", &Config::region,
       "what clients measure r_k by: the least loss of their examples (an exact access), the least of the "
       "sums of votes in which each example says its losses on the whole way at once, or the last point "
       "where the gradients of examples and images still agree in direction",
       Constraint::one_of({"loss", "votes", "gradient"})},
      {"region_bound", &Config::region_bound,
       "with votes: norm to which each example's losses, beside its loss at the start, are cut",
       Constraint::positive()},
      {"server_descent", &Config::server_descent,
       "SGD on the union of the sets, in batches, or steps along the mean of their gradients weighted by "
       "examples (Equation 14)",
       Constraint::one_of({"union", "weighted"})},
      {"server_calibration", &Config::server_calibration,
       "clients send how long the gradient of their examples is in each tensor, and the server stretches the "
       "gradient of their images to that (Equation 20); needs server_descent = \"weighted\""},
  }
      .extends<SetTraining, ImageTraining, SyntheticSets, GradientMatching, RateSchedule>();
}

void Config::validate() const {
  Augmentation::validate(augmentation);
  if (server_calibration && server_descent != "weighted") {
    throw Error(Complaint{
        .found = "server_calibration is true, but server_descent is \"" + server_descent + "\"",
        .allowed = "server_descent = \"weighted\"",
        .remedy = "calibration needs the gradient of each client's images by itself; set server_descent, or "
                  "leave server_calibration out"});
  }
}

Schema<PrivateConfig> PrivateConfig::schema() { return Schema<PrivateConfig>{}.extends<Config>(); }

namespace {

template <typename Settings>
class FedLap final : public Configured<Settings> {
 public:
  using Configured<Settings>::Configured;
  using Configured<Settings>::config_;

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    WeightedSet own{first_set(client)};
    const bool has_images = own.set.size() > 0;
    if (has_images) approximate(config_, client, start, own.set);
    if (config_.carry_images) {
      client.state.put(kImages, own.set.inputs);
      client.state.put(kLabels, own.set.targets);
    }
    Message message = encode_set(config_, client, own.set);
    if (has_images && config_.server_calibration) {
      own.norms = tensor_norms(client.oracle.gradient(start, {}));
      message.put(kNorms, own.norms);
    }
    if (has_images && config_.measures_regions()) {
      message.put(kRadius, effective_radius(config_, client, start, own));
    }
    return message;
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    optimise_globally(config_, server, uplink);
  }

  // Fewer where a walk leaves the radius, or a trial on the client ends early. Exact losses, which are looked
  // at after gradients, are in no plan.
  std::optional<AccessPlan> access_plan(const Client& /*client*/) const override {
    if (config_.measures_regions() && config_.region == "loss") return std::nullopt;
    AccessPlan plan;
    plan.gradients[config_.batch_size] += config_.trajectories * config_.outer_steps * config_.real_batches;
    if (config_.server_calibration) ++plan.gradients[0];
    if (config_.measures_regions() && config_.region == "gradient")
      plan.gradients[0] += config_.server_epochs;
    if (config_.measures_regions() && config_.region == "votes") plan.votes = 1;
    return plan;
  }

 private:
  // The images of last round where they are carried over and the client has the same classes, else new ones.
  Batch first_set(Client& client) const {
    if (!config_.carry_images || !client.state.contains(kImages.name)) return initial_set(config_, client);
    const torch::Tensor labels = balanced_labels(config_, client);
    if (!at::equal(client.state[kLabels].to(labels.device()), labels)) return initial_set(config_, client);
    return {client.state[kImages].to(client.model.options()), labels};
  }
};

}  // namespace
}  // namespace fedlap

FEDARENA_PLUGIN("fedlap", "1.0.0") {
  fedarena::Description description{
      .summary =
          "Clients send synthetic images whose loss approximates their own; the server descends on them.",
      .citation = "Wang et al., PoPETs 2024(3), arXiv:2302.01068",
      .downlink = "model",
      .uplink = "synthetic images, labels, number of examples, radius",
      .requires_classes = true};
  registry.add<fedlap::FedLap<fedlap::Config>>("fedlap", description);
  description.summary = "FedLAP with privatised gradients and a constant radius.";
  description.uplink = "synthetic images, labels, number of examples";
  description.requires_policy = "record";
  registry.add<fedlap::FedLap<fedlap::PrivateConfig>>("fedlap-dp", description);
}
