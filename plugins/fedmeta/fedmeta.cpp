// FedMeta: Chen, Luo, Dong, Li, He, "Federated meta-learning with fast convergence and efficient
// communication", 2018, Algorithm 1 with first-order MAML (arXiv:1802.07876).
//
// Differs from the paper: support and query examples are the batches of a round one after the other, not two
// fixed parts of a shard, and they are distinct while an epoch lasts. The server makes a plain step instead
// of one by Adam, and clients count alike unless weighting = "examples" has them count by examples.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kGradient{"gradient"};

struct Config : RateSchedule, Weighting {
  Config() { weighting = "uniform"; }

  double inner_rate = 0.05;
  std::int64_t inner_steps = 1;
  std::int64_t batch_size = 64;
  std::int64_t personal_steps = 0;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"inner_rate", &Config::inner_rate, "learning rate of the steps to a client's own model",
         Constraint::positive()},
        {"inner_steps", &Config::inner_steps, "steps to a client's own model before its gradient is taken",
         Constraint::between(1, 10'000'000)},
        {"batch_size", &Config::batch_size, "examples in a batch; 0: the whole shard",
         Constraint::between(0, 10'000'000)},
        {"personal_steps", &Config::personal_steps,
         "steps to the model that a client is tested with; 0: as many as in training",
         Constraint::between(0, 10'000'000)},
    }
        .extends<Weighting, RateSchedule>();
  }
};

class FedMeta final : public Configured<Config> {
 public:
  using Configured::Configured;

  Message train(Client& client, const Message& downlink) const override {
    const Params own = own_model(client, downlink[kModel], config_.inner_steps);
    return {{kGradient, client.oracle.gradient(own, {.batch_size = config_.batch_size})},
            {kExamples, client.oracle.size()}};
  }

  std::optional<AccessPlan> access_plan(const Client& /*client*/) const override {
    return AccessPlan{.gradients = {{config_.batch_size, config_.inner_steps + 1}}};
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return {kGradient, kExamples};
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    const double rate = config_.rate_in(server.round, server.rounds);
    server.params.add_scaled(-rate, weighted_mean(uplink, kGradient, config_));
  }

  bool personalises() const override { return true; }

  Params personalise(Client& client, const Message& downlink) const override {
    const std::int64_t steps = config_.personal_steps > 0 ? config_.personal_steps : config_.inner_steps;
    return own_model(client, downlink[kModel], steps);
  }

 private:
  Params own_model(Client& client, const Params& start, std::int64_t steps) const {
    LocalTraining inner;
    inner.rate = config_.inner_rate;
    inner.local_steps = steps;
    inner.batch_size = config_.batch_size;
    return train_locally(client, start, inner);
  }
};

}  // namespace

FEDARENA_PLUGIN("fedmeta", "1.0.0") {
  registry.add<FedMeta>("fedmeta",
                        {.summary = "Meta-learning: the server follows gradients at clients' own models.",
                         .citation = "Chen et al., 2018, arXiv:1802.07876",
                         .downlink = "model",
                         .uplink = "gradient at the client's own model, number of examples"});
}
