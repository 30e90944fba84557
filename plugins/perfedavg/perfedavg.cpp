// Per-FedAvg: Fallah, Mokhtari, Ozdaglar, "Personalized federated learning with theoretical guarantees: a
// model-agnostic meta-learning approach", NeurIPS 2020, Algorithm 1 (arXiv:2002.07948), with its two
// ways to do without the Hessian: leave it out (FO) or take a difference of gradients (HF).
//
// Differs from the paper: the two gradients of a difference are taken over the whole shard, because a client
// is not answered twice on the same batch; under the policy "record" their noise is divided by the
// difference. Clients send the change of the model, so that a server rate can scale it.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

struct Config : RateSchedule, Weighting {
  Config() { weighting = "uniform"; }

  std::int64_t local_steps = 10;
  std::int64_t batch_size = 64;
  double inner_rate = 0.05;
  std::string hessian = "first-order";
  double difference = 1e-3;
  double server_rate = 1;
  std::int64_t personal_steps = 1;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"local_steps", &Config::local_steps, "meta-steps of a client in a round",
         Constraint::between(1, 10'000'000)},
        {"batch_size", &Config::batch_size, "examples in a batch; 0: the whole shard",
         Constraint::between(0, 10'000'000)},
        {"inner_rate", &Config::inner_rate, "learning rate of the step that makes a model a client's own",
         Constraint::positive()},
        {"hessian", &Config::hessian, "what becomes of it: left out, or a difference of gradients",
         Constraint::one_of({"first-order", "hessian-free"})},
        {"difference", &Config::difference,
         "distance of the two gradients of a difference, in lengths of the vector", Constraint::positive()},
        {"server_rate", &Config::server_rate, "server learning rate", Constraint::positive()},
        {"personal_steps", &Config::personal_steps, "steps from the global model to a client's own",
         Constraint::between(0, 10'000'000)},
    }
        .extends<Weighting, RateSchedule>();
  }
};

class PerFedAvg final : public Configured<Config> {
 public:
  using Configured::Configured;

  // w <- w - rate (I - inner_rate H(w)) g(w - inner_rate g(w)).
  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    const double rate = config_.rate_in(client.round, client.rounds);
    Params local = start;
    for (std::int64_t step = 0; step < config_.local_steps; ++step) {
      Params meta = gradient(client, own_step(client, local));
      if (config_.hessian == "hessian-free")
        meta.add_scaled(-config_.inner_rate, hessian_times(client, local, meta));
      local.add_scaled(-rate, meta);
    }
    return update_message(client, start, local);
  }

  std::optional<AccessPlan> access_plan(const Client& /*client*/) const override {
    AccessPlan plan{.gradients = {{config_.batch_size, 2 * config_.local_steps}}};
    if (config_.hessian == "hessian-free") plan.gradients[0] += 2 * config_.local_steps;
    return plan;
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params.add_scaled(config_.server_rate, weighted_mean(uplink, kUpdate, config_));
  }

  bool personalises() const override { return true; }

  Params personalise(Client& client, const Message& downlink) const override {
    Params own = downlink[kModel];
    for (std::int64_t step = 0; step < config_.personal_steps; ++step) own = own_step(client, own);
    return own;
  }

 private:
  Params gradient(Client& client, const Params& at) const {
    return client.oracle.gradient(at, {.batch_size = config_.batch_size});
  }

  Params own_step(Client& client, const Params& at) const {
    Params own = at;
    own.add_scaled(-config_.inner_rate, gradient(client, at));
    return own;
  }

  // (g(w + d v) - g(w - d v)) / 2d
  Params hessian_times(Client& client, const Params& at, const Params& vector) const {
    const double d = config_.difference;
    Params product = client.oracle.gradient(at + d * vector, {});
    product -= client.oracle.gradient(at - d * vector, {});
    product *= 1 / (2 * d);
    return product;
  }
};

}  // namespace

FEDARENA_PLUGIN("perfedavg", "1.0.0") {
  registry.add<PerFedAvg>("per-fedavg",
                          {.summary = "A global model that is good after one step of a client's own.",
                           .citation = "Fallah et al., NeurIPS 2020, arXiv:2002.07948",
                           .downlink = "model",
                           .uplink = "model update, number of examples"});
}
