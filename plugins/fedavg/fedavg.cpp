// FedAvg: McMahan, Moore, Ramage, Hampson, Aguera y Arcas, "Communication-efficient learning of deep networks
// from decentralized data", AISTATS 2017, Algorithm 1 (arXiv:1602.05629).
//
// Differs from the paper: clients send the change of the model instead of the model, so that a server
// learning rate can scale it (1, the default, is the paper's average); weighting = "uniform" averages clients
// alike. dp-fedavg is the same where policy "record" clips and noises every gradient, as DP-SGD does: Abadi,
// Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang, CCS 2016, Algorithm 1 (arXiv:1607.00133). ldp-fedavg is
// the same where policy "local" clips and noises what each client sends.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

class FedAvg final : public Configured<ModelAveraging> {
 public:
  using Configured::Configured;

  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    return update_message(client, start, train_locally(client, start, config_));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return training_plan(client, config_);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    average_updates(server, uplink, config_);
  }
};

}  // namespace

FEDARENA_PLUGIN("fedavg", "1.0.0") {
  Description description{.summary = "Local SGD on every client, then the average of the models.",
                          .citation = "McMahan et al., AISTATS 2017, arXiv:1602.05629",
                          .downlink = "model",
                          .uplink = "model update, number of examples"};
  registry.add<FedAvg>("fedavg", description);
  Description local = description;
  local.summary = "FedAvg with clients that noise what they send.";
  local.requires_policy = "local";
  description.summary = "FedAvg by DP-SGD: clipped, noised gradients of examples.";
  description.citation += "; Abadi et al., CCS 2016, arXiv:1607.00133";
  description.requires_policy = "record";
  registry.add<FedAvg>("dp-fedavg", description);
  registry.add<FedAvg>("ldp-fedavg", local);
}
