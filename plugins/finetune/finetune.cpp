// FedAvg whose clients fine-tune the global model, the baseline of personalised federated learning: Yu,
// Bagdasaryan, Shmatikov, "Salvaging federated learning by local adaptation", 2020 (arXiv:2002.04758);
// trained as in McMahan et al., AISTATS 2017, Algorithm 1 (arXiv:1602.05629).
//
// Differs from the paper: every layer is tuned, and a client's rate does not depend on
// validation examples of its own.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

struct Config : ModelAveraging, PersonalTraining {
  static Schema<Config> schema() { return Schema<Config>{}.extends<PersonalTraining, ModelAveraging>(); }
};

class FineTune final : public Configured<Config> {
 public:
  using Configured::Configured;

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

  bool personalises() const override { return true; }

  Params personalise(Client& client, const Message& downlink) const override {
    return train_locally(client, downlink[kModel], config_.like(config_));
  }
};

}  // namespace

FEDARENA_PLUGIN("finetune", "1.0.0") {
  registry.add<FineTune>(
      "fine-tune",
      {.summary = "FedAvg, then local SGD from the global model for each client's own.",
       .citation = "Yu et al., 2020, arXiv:2002.04758; McMahan et al., AISTATS 2017, arXiv:1602.05629",
       .downlink = "model",
       .uplink = "model update, number of examples"});
}
