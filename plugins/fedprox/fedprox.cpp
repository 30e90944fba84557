// FedProx: Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, "Federated optimization in heterogeneous networks",
// MLSys 2020, Algorithm 2 (arXiv:1812.06127).
//
// Differs from the paper: the inexact solution of the local problem is SGD of a fixed amount of work, as in
// the published comparisons; clients are weighted by their examples unless weighting = "uniform" (the paper
// samples them by size and then averages alike); mu = 0 is FedAvg to the bit. dp-fedprox is the same where
// policy "record" clips and noises every gradient, as DP-SGD does (Abadi et al., CCS 2016, arXiv:1607.00133);
// the proximal term reads no example and is added afterwards.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

struct Config : ModelAveraging {
  double mu = 0.01;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"mu", &Config::mu, "weight of the proximal term mu/2 ||w - w_global||^2", Constraint::at_least(0)}}
        .extends<ModelAveraging>();
  }
};

class FedProx final : public Configured<Config> {
 public:
  using Configured::Configured;

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    const Correction pull = proximal_term(start, config_.mu);
    return update_message(client, start, train_locally(client, start, config_, pull));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return training_plan(client, config_);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    average_updates(server, uplink, config_);
  }
};

}  // namespace

FEDARENA_PLUGIN("fedprox", "1.0.0") {
  Description description{.summary = "FedAvg whose clients are pulled towards the global model.",
                          .citation = "Li et al., MLSys 2020, arXiv:1812.06127",
                          .downlink = "model",
                          .uplink = "model update, number of examples"};
  registry.add<FedProx>("fedprox", description);
  description.summary = "FedProx by DP-SGD: clipped, noised gradients of examples, then the pull.";
  description.citation += "; Abadi et al., CCS 2016, arXiv:1607.00133";
  description.requires_policy = "record";
  registry.add<FedProx>("dp-fedprox", description);
}
