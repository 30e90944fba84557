// FedAvgM: Hsu, Qi, Brown, "Measuring the effects of non-identical data distribution for federated visual
// classification", 2019 (arXiv:1909.06335). FedAdagrad, FedAdam, FedYogi: Reddi, Charles,
// Zaheer, Garrett, Rush, Konecny, Kumar, McMahan, "Adaptive federated optimization", ICLR 2021, Algorithm 2
// (arXiv:2003.00295). Clients train as in FedAvg; the server takes the mean of their updates, Delta, for the
// negative gradient of an optimiser of its own.
//
// Differs from the papers: clients are weighted by their examples unless weighting = "uniform" (Algorithm 2
// weighs alike, its experiments do not); v starts at tau^2, the least that Algorithm 2 allows; FedAvgM has a
// server rate, 1 by default, and no Nesterov variant.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kMomentum{"momentum"};  // m
constexpr Key<Params> kSquares{"squares"};    // v

struct Momentum : ModelAveraging {
  double server_momentum = 0.9;

  static Schema<Momentum> schema() {
    return Schema<Momentum>{{"server_momentum", &Momentum::server_momentum,
                             "share of the old step that the server keeps", Constraint::between(0, 1)}}
        .extends<ModelAveraging>();
  }

  // m <- momentum m + Delta; x <- x + rate m.
  void step(Server& server, const Params& delta) const {
    Params momentum = server_momentum * server.state.get_or(kMomentum, zeros_like(delta));
    momentum += delta;
    server.params.add_scaled(server_rate, momentum);
    server.state.put(kMomentum, std::move(momentum));
  }
};

// What Algorithm 2 has for all its rules.
struct Adaptive : ModelAveraging {
  Adaptive() { server_rate = 0.01; }

  double beta1 = 0.9;
  double tau = 1e-3;

  void validate() const {
    if (beta1 == 1) throw Error(Complaint{.found = "beta1 = 1 never looks at an update"});
  }

  static Schema<Adaptive> schema() {
    return Schema<Adaptive>{
        {"beta1", &Adaptive::beta1, "share of the old mean update that the server keeps",
         Constraint::between(0, 1)},
        {"tau", &Adaptive::tau, "how adaptive the server is: the less, the more", Constraint::positive()},
    }
        .extends<ModelAveraging>();
  }

  // m <- beta1 m + (1 - beta1) Delta; v <- rule(v, Delta^2); x <- x + rate m / (sqrt(v) + tau).
  template <typename Rule>
  void step(Server& server, const Params& delta, const Rule& rule) const {
    Params momentum = beta1 * server.state.get_or(kMomentum, zeros_like(delta));
    momentum.add_scaled(1 - beta1, delta);
    const Params start(delta.layout(), torch::full_like(delta.flat(), tau * tau));
    const Params squares(delta.layout(),
                         rule(server.state.get_or(kSquares, start).flat(), delta.flat().square()));
    server.params.flat().addcdiv_(momentum.flat(), squares.flat().sqrt().add_(tau), server_rate);
    server.state.put(kMomentum, std::move(momentum));
    server.state.put(kSquares, squares);
  }
};

struct Adagrad : Adaptive {
  Adagrad() { beta1 = 0; }  // as in the paper's experiments

  static Schema<Adagrad> schema() { return Schema<Adagrad>{}.extends<Adaptive>(); }

  void step(Server& server, const Params& delta) const {
    Adaptive::step(server, delta, [](const auto& v, const auto& square) { return v + square; });
  }
};

struct Decaying : Adaptive {
  double beta2 = 0.99;

  static Schema<Decaying> schema() {
    return Schema<Decaying>{{"beta2", &Decaying::beta2, "share of the old squares that the server keeps",
                             Constraint::between(0, 1)}}
        .extends<Adaptive>();
  }
};

struct Adam : Decaying {
  static Schema<Adam> schema() { return Schema<Adam>{}.extends<Decaying>(); }

  void step(Server& server, const Params& delta) const {
    Adaptive::step(server, delta,
                   [this](const auto& v, const auto& square) { return beta2 * v + (1 - beta2) * square; });
  }
};

struct Yogi : Decaying {
  static Schema<Yogi> schema() { return Schema<Yogi>{}.extends<Decaying>(); }

  void step(Server& server, const Params& delta) const {
    Adaptive::step(server, delta, [this](const auto& v, const auto& square) {
      return v - (1 - beta2) * square * torch::sign(v - square);
    });
  }
};

template <typename Optimiser>
class FedOpt final : public Configured<Optimiser> {
 public:
  using Configured<Optimiser>::Configured;
  using Configured<Optimiser>::config_;

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    return update_message(client, start, train_locally(client, start, config_));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return training_plan(client, config_);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    config_.step(server, weighted_mean(uplink, kUpdate, config_));
  }
};

}  // namespace

FEDARENA_PLUGIN("fedopt", "1.0.0") {
  Description description{.summary = "FedAvg whose server has momentum.",
                          .citation = "Hsu et al., 2019, arXiv:1909.06335",
                          .downlink = "model",
                          .uplink = "model update, number of examples"};
  registry.add<FedOpt<Momentum>>("fedavgm", description);
  description.citation = "Reddi et al., ICLR 2021, arXiv:2003.00295";
  description.summary = "FedAvg whose server steps by Adagrad.";
  registry.add<FedOpt<Adagrad>>("fedadagrad", description);
  description.summary = "FedAvg whose server steps by Adam.";
  registry.add<FedOpt<Adam>>("fedadam", description);
  description.summary = "FedAvg whose server steps by Yogi.";
  registry.add<FedOpt<Yogi>>("fedyogi", description);
}
