// FedNova: Wang, Liu, Liang, Joshi, Poor, "Tackling the objective inconsistency problem in heterogeneous
// federated optimization", NeurIPS 2020, Sections 3 and 4 (arXiv:2007.07481): each client sends what its
// gradients come to on average, weighted by a_i, so that who makes more steps does not count for more.
//
// Differs from the paper: tau_eff, which the paper leaves open, is the weighted mean of the ||a_i||_1 (the
// authors' code takes the mean number of steps where there is a proximal term), so that clients with equal
// steps give FedAvg or FedProx; the proximal term goes through the momentum, as in our FedProx, and a_i
// follows; weight decay is part of the gradient; weighting = "uniform" averages clients alike.
#include <cmath>

#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

constexpr Key<double> kSteps{"steps"};  // ||a_i||_1: the number of steps, where all count alike

struct Config : ModelAveraging {
  double mu = 0.0;
  double effective_steps = 0.0;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"mu", &Config::mu, "weight of the proximal term mu/2 ||w - w_global||^2; 0: none",
         Constraint::at_least(0)},
        {"effective_steps", &Config::effective_steps,
         "tau_eff: steps of plain SGD that a round is worth, some 1 / (1 - momentum) times as many as local "
         "ones; 0: the mean of the clients' own, whose messages are then read one by one (under the policy "
         "\"client\" an exact access)",
         Constraint::at_least(0)},
    }
        .extends<ModelAveraging>();
  }
};

class FedNova final : public Configured<Config> {
 public:
  using Configured::Configured;

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    Params update = train_locally(client, start, config_, proximal_term(start, config_.mu)) - start;
    const double steps =
        sum_of_weights(config_.steps(client.oracle), config_.rate_in(client.round, client.rounds));
    if (steps > 0) update *= 1 / steps;
    Message message{{kUpdate, std::move(update)}, {kExamples, client.oracle.size()}};
    if (config_.effective_steps == 0) message.put(kSteps, steps);
    return message;
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return training_plan(client, config_);
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    if (config_.effective_steps > 0) return {kUpdate, kExamples};
    return undeclared("their numbers of steps", "Set effective_steps above 0, or choose another policy");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    const double steps = effective_steps(uplink);  // first: exact accesses come before noised answers
    server.params.add_scaled(config_.server_rate * steps, weighted_mean(uplink, kUpdate, config_));
  }

 private:
  // ||a_i||_1, where a_i says how far each step's gradient has moved the client in the end, in units of
  // -rate. A gradient moves it alike whenever it comes, so that a_i, read backwards, is the walk after a
  // gradient of one in the first step and of zero from then on.
  double sum_of_weights(std::int64_t steps, double rate) const {
    double moved = 0, velocity = 0, sum = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      const double gradient = (step == 0 ? 1.0 : 0.0) - rate * config_.mu * moved;
      velocity = config_.momentum * velocity + gradient;
      moved += velocity;
      sum += std::abs(moved);
    }
    return sum;
  }

  double effective_steps(const Uplink& uplink) const {
    if (config_.effective_steps > 0) return config_.effective_steps;
    double steps = 0, weights = 0;
    for (const Message& message : uplink.each()) {
      const double weight = config_.by_examples() ? static_cast<double>(message[kExamples]) : 1.0;
      steps += weight * message[kSteps];
      weights += weight;
    }
    return weights > 0 ? steps / weights : 0;
  }
};

}  // namespace

FEDARENA_PLUGIN("fednova", "1.0.0") {
  registry.add<FedNova>(
      "fednova",
      {.summary = "FedAvg of updates that are divided by how many steps made them.",
       .citation = "Wang et al., NeurIPS 2020, arXiv:2007.07481",
       .downlink = "model",
       .uplink = "model update per step, number of examples, number of steps (without effective_steps)"});
}
