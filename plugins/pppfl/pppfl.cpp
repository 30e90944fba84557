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
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fedarena/adam.hpp>
#include <fedarena/algorithm.hpp>
#include <fedarena/generators.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kGradient{"gradient"};
constexpr Key<double> kBudget{"budget"};
constexpr Key<Params> kStart{"start"};                   // a client's, in its round before
constexpr Key<Params> kMean{"mean"}, kSquare{"square"};  // of the server's Adam
constexpr Key<std::int64_t> kSteps{"steps"};

// The hyper-parameters. Names of rates and epochs: inner is on synthetic data in a round, personal what
// makes a client's own model.
struct Config : Generators {
  std::string aggregation = "meta";
  std::int64_t most_examples = 20'000;
  double inner_rate = 1e-4;
  std::int64_t inner_epochs = 1;
  std::int64_t batch_size = 64;
  double start_average = 0.9;  // zeta
  double server_rate = 3e-4;
  std::int64_t cycles = 1;  // M
  std::string weights = "uniform";
  double temperature = 5;  // rho
  std::string adapt_on = "real";
  std::int64_t personal_epochs = 5;  // gamma
  double personal_rate = 1e-4;

  static Schema<Config> schema() {
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
};

struct SetKeys {
  Key<torch::Tensor> images, labels;
};
constexpr SetKeys kSupport{{"support_images"}, {"support_labels"}};  // D*tr
constexpr SetKeys kQuery{{"query_images"}, {"query_labels"}};        // D*val

constexpr std::uint64_t kSplit = 0, kShuffles = 1;

bool has(const Client& client, const SetKeys& keys) { return client.state.contains(keys.images.name); }

bool has_or_needs_none(const Client& client) { return client.oracle.size() == 0 || has(client, kSupport); }

Batch set_of(const Client& client, const SetKeys& keys) {
  return Batch{client.state[keys.images], client.state[keys.labels]}.to(client.model.options());
}

// Draws the client's synthetic sets into its state, unless it has them or holds no examples: D*tr, and D*val
// with a fifth as many images.
void make_sets(const Config& config, Client& client) {
  if (has_or_needs_none(client)) return;
  const std::int64_t count = std::min(client.oracle.size(), config.most_examples);
  const std::int64_t held_back = std::max<std::int64_t>(1, count / 5), all = count + held_back;
  const Batch drawn = generate(config, client, all);
  // Shuffled, since examples that the generator "real" draws a second time come last.
  Stream stream = client.streams(Purpose::kAlgorithm, kSplit);
  const torch::Tensor order = torch::tensor(stream.permutation(all), torch::kInt64);
  const auto keep = [&](const SetKeys& keys, const Batch& set) {
    client.state.put(keys.images, set.inputs);
    client.state.put(keys.labels, set.targets);
  };
  // "real" has none of a client all of whose examples an audit leaves out.
  const auto part = [&](std::int64_t first, std::int64_t size) {
    return drawn.size() == 0 ? drawn : drawn.select(order.narrow(0, first, size));
  };
  keep(kSupport, part(0, count));
  keep(kQuery, part(count, held_back));
}

// Error for a client that holds examples and has no D*tr: it would be tested with the global model.
void require_set(const Client& client) {
  if (has_or_needs_none(client)) return;
  throw Error(Complaint{.found = "adapt_on = \"synthetic\", and client " + std::to_string(client.id) +
                                 " has no synthetic images, because it did not train",
                        .allowed = "clients that all take part in round 1",
                        .remedy = "Set adapt_on = \"real\", or leave out [cohort] and held_out_clients"});
}

// What make_sets() asks for.
AccessPlan sets_plan(const Config& config, const Client& client) {
  return client.oracle.size() == 0 || client.participations > 0 ? AccessPlan()
                                                                : generation_plan(config, client);
}

// Epochs of Adam on D*tr, which begins anew; `start` itself on a client without one.
Params descend(const Config& config, const Client& client, Params start, std::int64_t epochs, double rate) {
  if (!has(client, kSupport)) return start;
  const Batch support = set_of(client, kSupport);
  const std::int64_t count = support.size(), batch = config.batch_size > 0 ? config.batch_size : count;
  Stream shuffles = client.streams(Purpose::kAlgorithm, kShuffles);
  Adam adam;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const torch::Tensor order = torch::tensor(shuffles.permutation(count), torch::kInt64);
    for (std::int64_t first = 0; first < count; first += batch) {
      const Batch part = support.select(order.narrow(0, first, std::min(batch, count - first)));
      adam.step(start, client.compute.gradient(start, part), rate);
    }
  }
  return start;
}

// The gradient of the mean loss on D*val; zero on a client without one.
Params query_gradient(const Client& client, const Params& at) {
  const bool any = has(client, kQuery) && client.state[kQuery.images].size(0) > 0;
  return any ? client.compute.gradient(at, set_of(client, kQuery)) : zeros_like(at);
}

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

FEDARENA_PLUGIN("pppfl", "1.0.0") {
  registry.add<Pppfl>(
      "pppfl",
      {.summary = "A start for all is meta-learned on private synthetic data, and each client adapts it.",
       .citation = "Tran, Pham, Wong, IEEE TETC 2024, arXiv:2302.12020",
       .downlink = "model",
       .uplink = "gradient on synthetic examples at the client's own model; its budget where weights need it",
       .requires_classes = true});
}
