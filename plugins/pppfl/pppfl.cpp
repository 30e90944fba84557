// PPPFL: Tran, Pham, Wong, "Personalized privacy-preserving framework for cross-silo federated learning",
// IEEE Transactions on Emerging Topics in Computing, 2024 (arXiv:2302.12020). In round 1 each client trains a
// private generator and draws synthetic sets D*tr and D*val. Later rounds are first-order MAML on these
// alone: a client steps from the global model on D*tr and sends the gradient of its loss on D*val there. A
// client's own model adapts the global one to its real examples and stays where it is.
//
// Where the paper contradicts itself: weights are the softmax of Equation 4 with the temperature in both
// exponents, or all alike as in Algorithm 2; models adapt to private examples, as text and Figure 1 have it,
// unless adapt_on = "synthetic" (Algorithm 1, line 9). Where it is silent: the generator sees all training
// examples of a client, and both sets come from it; D*tr has as many images as the client has examples, D*val
// a fifth; their labels are the generator's, uniform over all classes; Adam on clients begins anew in each
// round; zeta 0.9, rho 5, one cycle, one epoch of inner steps, five of adaptation.
//
// Differs from the paper: the first round trains no model, so that T rounds of theirs are T + 1, and the
// cosine runs over those T; a client that comes later draws its sets in its first round.
#include "pppfl.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include <fedarena/adam.hpp>
#include <fedarena/model_averaging.hpp>

namespace pppfl {

using namespace fedarena;

Schema<Config> Config::schema() {
  const Constraint count = Constraint::between(1, 10'000'000);
  return Schema<Config>{
      {"aggregation", &Config::aggregation,
       "what clients send after their steps: the gradient on the synthetic examples that they held back "
       "(meta), or the change of the model, which the server takes a mean of (see weights) without a rate",
       Constraint::one_of({"meta", "average"})},
      {"most_examples", &Config::most_examples,
       "synthetic examples that a client trains on, at most; else as many as it holds real ones", count},
      {"inner_rate", &Config::inner_rate, "rate of a client's Adam on synthetic examples",
       Constraint::positive()},
      {"inner_epochs", &Config::inner_epochs,
       "passes over the synthetic examples before a client's gradient is taken", count},
      {"batch_size", &Config::batch_size, "examples in a batch, synthetic or real; 0: all at once",
       Constraint::between(0, 10'000'000)},
      {"start_average", &Config::start_average,
       "share of the new global model in the moving average that a client starts from; 1: all of it",
       Constraint::between(0, 1)},
      {"server_rate", &Config::server_rate,
       "with meta, first rate of the server's Adam in a cycle; 0: clients adapt the initial model, each by "
       "itself",
       Constraint::at_least(0)},
      {"cycles", &Config::cycles, "times that the server's rate falls from there along a cosine", count},
      {"weights", &Config::weights,
       "weights of the clients' gradients: alike, or the softmax of their budgets over the temperature",
       Constraint::one_of({"uniform", "budget"})},
      {"temperature", &Config::temperature, "the larger, the less a large budget counts",
       Constraint::positive()},
      {"adapt_on", &Config::adapt_on,
       "examples that make the global model a client's own: real ones (the model stays on the client), the "
       "client's synthetic ones, or nothing",
       Constraint::one_of({"real", "synthetic", "nothing"})},
      {"personal_epochs", &Config::personal_epochs, "passes over those examples",
       Constraint::between(0, 10'000)},
      {"personal_rate", &Config::personal_rate, "rate of Adam on them", Constraint::positive()},
  }
      .extends<Generators>();
}

namespace {

constexpr Key<Params> kGradient{"gradient"};
constexpr Key<double> kBudget{"budget"};
constexpr Key<Params> kStart{"start"};                   // a client's, in its round before
constexpr Key<Params> kMean{"mean"}, kSquare{"square"};  // of the server's Adam
constexpr Key<std::int64_t> kSteps{"steps"};

class Pppfl final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override { check_draws_classes(server.model); }

  Message train(Client& client, const Message& downlink) const override {
    make_sets(config_, client);
    if (!trains(client.round)) return {};
    Params start = config_.start_average * downlink[kModel];
    start.add_scaled(1 - config_.start_average, client.state.get_or(kStart, downlink[kModel]));
    client.state.put(kStart, start);
    const Params own = descend(config_, client, start, config_.inner_epochs, config_.inner_rate);
    Message message{{kGradient, averages() ? start - own : query_gradient(client, own)}};
    if (by_budget()) message.put(kBudget, client.budget);
    return message;
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t round) const override {
    if (by_budget()) return undeclared("their budgets", "Set weights = \"uniform\"");
    return trains(round) ? std::vector<UplinkEntry>{kGradient} : std::vector<UplinkEntry>();
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    if (!trains(server.round) || uplink.size() == 0) return;
    const Params gradient = by_budget() ? softmax_mean(uplink.each()) : uplink.mean(kGradient);
    averages() ? static_cast<void>(server.params -= gradient) : adam_step(server, gradient);
  }

  // Sets are made once, and later rounds look at nothing else.
  std::optional<AccessPlan> access_plan(const Client& client) const override {
    if (by_budget()) check_budget(client);
    return sets_plan(config_, client);
  }

  bool personalises() const override { return config_.adapt_on != "nothing"; }

  Params personalise(Client& client, const Message& downlink) const override {
    Params own = downlink[kModel];
    const double rate = config_.personal_rate;
    if (config_.adapt_on == "synthetic") {
      require_set(client);
      return descend(config_, client, std::move(own), config_.personal_epochs, rate);
    }
    const std::int64_t steps = config_.personal_epochs * client.oracle.steps_per_epoch(config_.batch_size);
    Adam adam;
    for (std::int64_t step = 0; step < steps; ++step)
      adam.step(own, client.oracle.gradient(own, {.batch_size = config_.batch_size}), rate);
    return own;
  }

 private:
  bool averages() const { return config_.aggregation == "average"; }
  bool by_budget() const { return config_.weights == "budget"; }
  bool trains(std::int64_t round) const { return round > 1 && config_.server_rate > 0; }

  void check_budget(const Client& client) const {
    if (client.budget > 0) return;
    throw Error(
        Complaint{.found = "weights = \"budget\", but the clients have no budgets",
                  .allowed = "a list of budgets in the section [privacy], under the policy \"record\"",
                  .remedy = "Set budget = [1.0, 10.0] there, or weights = \"uniform\""});
  }

  // Budgets are taken from the largest, so that no power overflows.
  Params softmax_mean(std::span<const Message> messages) const {
    double largest = 0, sum = 0;
    for (const Message& message : messages) largest = std::max(largest, message[kBudget]);
    Params mean = zeros_like(messages.front()[kGradient]);
    for (const Message& message : messages) {
      const double weight = std::exp((message[kBudget] - largest) / config_.temperature);
      mean.add_scaled(weight, message[kGradient]);
      sum += weight;
    }
    return (1 / sum) * std::move(mean);
  }

  // Its memory lies in the state, where checkpoints keep it.
  void adam_step(Server& server, const Params& gradient) const {
    const std::int64_t step = server.state.get_or(kSteps, std::int64_t{0}) + 1;
    Params mean = server.state.get_or(kMean, zeros_like(gradient));
    Params square = server.state.get_or(kSquare, zeros_like(gradient));
    Adam::step({}, {mean.flat(), square.flat()}, step, server.params.flat(), gradient.flat(),
               rate_in(server));
    server.state.put(kSteps, step);
    server.state.put(kMean, std::move(mean));
    server.state.put(kSquare, std::move(square));
  }

  // Falls from server_rate towards zero in each cycle of the rounds that train.
  double rate_in(const Server& server) const {
    const std::int64_t rounds = server.rounds - 1, cycle = (rounds + config_.cycles - 1) / config_.cycles;
    const double progress = static_cast<double>((server.round - 2) % cycle) / static_cast<double>(cycle);
    return config_.server_rate * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
};

}  // namespace
}  // namespace pppfl

FEDARENA_PLUGIN("pppfl", "1.0.0") {
  registry.add<pppfl::Pppfl>(
      "pppfl",
      {.summary = "A start for all is meta-learned on private synthetic data, and each client adapts it.",
       .citation = "Tran, Pham, Wong, IEEE TETC 2024, arXiv:2302.12020",
       .downlink = "model",
       .uplink = "gradient on synthetic examples at the client's own model; its budget where weights need it",
       .requires_classes = true});
}
