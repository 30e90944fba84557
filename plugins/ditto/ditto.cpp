// Ditto: Li, Hu, Beirami, Smith, "Ditto: fair and robust federated learning through personalization", ICML
// 2021, Algorithm 1 (arXiv:2012.04221), with FedAvg for the global model.
//
// Differs from the paper: a client's own model begins at the first global model that it receives. A client
// that has not taken part yet is tested with what its first round would make of the global model. Under the
// policy "record" the steps of the own model are clipped, noised and charged as all others.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kOwn{"own_model"};

struct Config : ModelAveraging, PersonalTraining {
  double lambda = 0.1;

  static Schema<Config> schema() {
    return Schema<Config>{{"lambda", &Config::lambda,
                           "pull of the global model on a client's own; 0: none, which is local training",
                           Constraint::at_least(0)}}
        .extends<PersonalTraining, ModelAveraging>();
  }
};

class Ditto final : public Configured<Config> {
 public:
  using Configured::Configured;

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    Message uplink = update_message(client, start, train_locally(client, start, config_));
    client.state.put(kOwn, own_model(client, start));
    return uplink;
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    AccessPlan plan = training_plan(client, config_);
    plan.gradients[config_.batch_size] += config_.like(config_).steps(client.oracle);
    return plan;
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    average_updates(server, uplink, config_);
  }

  bool personalises() const override { return true; }

  Params personalise(Client& client, const Message& downlink) const override {
    return client.state.contains(kOwn.name) ? client.state[kOwn] : own_model(client, downlink[kModel]);
  }

 private:
  // v <- v - rate (gradient of the client's loss + lambda (v - global)), some steps.
  Params own_model(Client& client, const Params& global) const {
    return train_locally(client, client.state.get_or(kOwn, global), config_.like(config_),
                         proximal_term(global, config_.lambda));
  }
};

}  // namespace

FEDARENA_PLUGIN("ditto", "1.0.0") {
  registry.add<Ditto>("ditto",
                      {.summary = "FedAvg, beside which each client trains a model near the global one.",
                       .citation = "Li et al., ICML 2021, arXiv:2012.04221",
                       .downlink = "model",
                       .uplink = "model update, number of examples"});
}
