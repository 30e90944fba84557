// SCAFFOLD: Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, "SCAFFOLD: stochastic controlled averaging for
// federated learning", ICML 2020, Algorithm 1, options I and II (arXiv:1910.06378).
//
// Differs from the paper: momentum and weight decay, 0 by default, may be added to the local steps. Gradients
// are corrected before they enter the momentum, and the control variate of option II is then the mean of the
// local gradients: the paper's (x - y) / (K rate) is that mean for plain SGD alone. With momentum it would be
// 1 / (1 - momentum) times too large, and the iteration diverges. A client without local steps keeps its
// control variate. Under the policies "client" and "local" the server gets updates that are clipped and
// noised, of models and controls together, while a client remembers its own as it is: the server's control
// variate then is the mean of the clients' no more, which the paper knows nothing of, and the iteration may
// end far from where FedAvg does.
#include <fedarena/algorithm.hpp>
#include <fedarena/local_training.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kModel{"model"};
constexpr Key<Params> kControl{"control"};
constexpr Key<Params> kModelUpdate{"model_update"};
constexpr Key<Params> kControlUpdate{"control_update"};

struct Config : LocalTraining {
  std::string option = "II";
  double server_rate = 1.0;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"option", &Config::option,
         "new control variate: the full local gradient at the global model (I) or the mean local gradient "
         "(II)",
         Constraint::one_of({"I", "II"})},
        {"server_rate", &Config::server_rate, "server learning rate", Constraint::positive()},
    }
        .extends<LocalTraining>();
  }
};

class Scaffold final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override { server.state.put(kControl, zeros_like(server.params)); }

  Message broadcast(const Server& server) const override {
    return {{kModel, server.params}, {kControl, server.state[kControl]}};
  }

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    const Params& server_control = downlink[kControl];
    const Params control = client.state.get_or(kControl, zeros_like(start));

    const Params drift = server_control - control;
    // A schedule may end with a rate of 0, and where steps are small, parameters round them away.
    constexpr double kLeastRate = 1e-4;
    const bool is_plain = config_.momentum == 0 && config_.rate_in(client.round, client.rounds) >= kLeastRate;
    Params sum = is_plain ? Params() : zeros_like(start);
    const Params local = train_locally(client, start, config_, [&](const Params&, Params& gradient) {
      if (!sum.empty()) sum += gradient;
      gradient += drift;
    });

    const Params next = next_control(client, start, local, drift, sum);
    Message uplink{{kModelUpdate, local - start}, {kControlUpdate, next - control}};
    client.state.put(kControl, next);
    return uplink;
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    AccessPlan plan = training_plan(client, config_);
    if (config_.option == "I") ++plan.gradients[0];
    return plan;
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return {kModelUpdate, kControlUpdate};
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    // Control variates average over all clients: those that sat out contribute no change.
    const double share = static_cast<double>(uplink.size()) / static_cast<double>(server.population);
    server.params += config_.server_rate * uplink.mean(kModelUpdate);
    server.state.put(kControl, server.state[kControl] + share * uplink.mean(kControlUpdate));
  }

 private:
  // `sum`: of the local gradients, where steps do not tell it.
  Params next_control(Client& client, const Params& start, const Params& local, const Params& drift,
                      const Params& sum) const {
    if (config_.option == "I") return client.oracle.gradient(start, {.batch_size = 0});
    const std::int64_t steps = config_.steps(client.oracle);
    if (steps == 0) return client.state.get_or(kControl, zeros_like(start));
    const double share = 1 / static_cast<double>(steps);
    if (!sum.empty()) return share * sum;
    return share / config_.rate_in(client.round, client.rounds) * (start - local) - drift;
  }
};

}  // namespace

FEDARENA_PLUGIN("scaffold", "1.0.0") {
  registry.add<Scaffold>("scaffold", {.summary = "Local SGD whose drift is corrected by control variates.",
                                      .citation = "Karimireddy et al., ICML 2020, arXiv:1910.06378",
                                      .downlink = "model, server control variate",
                                      .uplink = "model update, control variate update"});
}
