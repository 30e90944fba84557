// SDA-FL: Li, Shao, Mao, Wang, Zhang, "Federated learning with GAN-based data synthesis for non-IID clients",
// FL-IJCAI 2022 (arXiv:2206.05507). Each client trains a generator, once, and uploads images of it. The
// server pools them and labels each client's images by what the model of that client says of them, as soon as
// it is confident, anew in each round that the client takes part in. Clients train on their own examples and
// on the labelled part of the pool, which the server's model also takes steps on after the average.
//
// We had the paper's abstract and what others say of it, not its text; choices of ours are: a client's
// gradient is the sum of two means, by pool_share, in place of mixed-up pairs, for which raw examples would
// have to leave the oracle; the generator is one of ours in place of a private WGAN; threshold, sizes and
// the number of the server's epochs. The pool goes down in every round, since any client may be new.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <ATen/ATen.h>

#include <fedarena/algorithm.hpp>
#include <fedarena/generators.hpp>
#include <fedarena/model_averaging.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace {

using namespace fedarena;

constexpr Key<std::int64_t> kClient{"client"};  // whose a message is
// Of the pool.
constexpr Key<torch::Tensor> kMakers{"makers"};  // numbers of the clients, int64 [n]
constexpr Key<torch::Tensor> kSure{"sure"};      // 0 or 1, int64 [n]

// The images that clients uploaded so far (kImages of their messages), with labels: a state, on the CPU.
class Pool {
 public:
  explicit Pool(Message& state) : state_(state) {}

  // Takes up the message's images, without labels; false where it has none.
  bool add(const Message& message, const torch::TensorOptions& options) {
    if (!message.contains(kImages.name)) return false;
    const auto append = [&](Key<torch::Tensor> key, const torch::Tensor& more) {
      state_.put(key, state_.contains(key.name) ? torch::cat({state_[key], more}) : more);
    };
    const torch::Tensor images = message[kImages].to(options.device(torch::kCPU));
    const torch::Tensor zeros = torch::zeros({images.size(0)}, images.options().dtype(torch::kInt64));
    append(kImages, images);
    append(kMakers, zeros + message[kClient]);
    append(kLabels, zeros);
    append(kSure, zeros);
    return true;
  }

  // Labels the images of the message's client by its model, and is sure of those whose probability is at
  // least `confidence`.
  void label(const Message& message, const Server& server, double confidence) {
    if (!state_.contains(kImages.name)) return;
    const torch::Tensor own = state_[kMakers].eq(message[kClient]).nonzero().flatten();
    if (own.size(0) == 0) return;
    const torch::Tensor images = state_[kImages].index_select(0, own).to(server.model.options());
    const torch::Tensor outputs =
        server.compute.outputs(server.params + message[kUpdate], images).to(torch::kCPU);
    const auto [probability, label] = torch::softmax(outputs, 1).max(1);
    state_.put(kLabels, state_[kLabels].index_copy(0, own, label));
    state_.put(kSure, state_[kSure].index_copy(0, own, probability.ge(confidence).to(torch::kInt64)));
  }

  // All, sure or not; undefined tensors where there are none, here and below.
  Batch all() const {
    return state_.contains(kImages.name) ? Batch{state_[kImages], state_[kLabels]} : Batch();
  }

  // Those with a sure label.
  Batch labelled() const {
    const Batch images = all();
    if (!images.inputs.defined()) return {};
    const torch::Tensor sure = state_[kSure].nonzero().flatten();
    return sure.size(0) > 0 ? images.select(sure) : Batch();
  }

 private:
  Message& state_;
};

struct Config : ModelAveraging, SetTraining, Generators {
  Config() {
    generator = "dp-merf";
    server_epochs = 1;
    server_batch_size = 64;
  }

  std::int64_t synthetic_images = 1000;
  double confidence = 0.95;
  double pool_share = 0.5;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"synthetic_images", &Config::synthetic_images, "images that a client uploads, once",
         Constraint::between(1, 1'000'000)},
        {"confidence", &Config::confidence,
         "least probability of its class with which an image's label counts, by the model of the client it "
         "is of",
         Constraint::between(0, 1)},
        {"pool_share", &Config::pool_share, "share of the pool in a client's gradients",
         Constraint::between(0, 1)},
    }
        .extends<Generators, SetTraining, ModelAveraging>();
  }
};

class SdaFl final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override { check_draws_classes(server.model); }

  Message broadcast(const Server& server) const override {
    Message message{{kModel, server.params}};
    const Batch pool = Pool(server.state).labelled();
    if (pool.inputs.defined()) {
      message.put(kImages, pool.inputs);
      message.put(kLabels, pool.targets);
    }
    return message;
  }

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    Message message =
        update_message(client, start, train_locally(client, start, config_, on_pool(client, downlink)));
    message.put(kClient, client.id);
    if (uploads(client)) {
      message.put(kImages, generate(config_, client, config_.synthetic_images).inputs);
    }
    return message;
  }

  // A generator is trained once, after the steps of that round. How much of a budget these leave for it is
  // not known before they are done; the other generators ask for as much with a budget as without. Examples
  // themselves, after these steps, are in no plan.
  std::optional<AccessPlan> access_plan(const Client& client) const override {
    const bool spends_budget = config_.generator == "psg" || config_.generator == "datalens";
    const bool unknown = config_.generator == "real" || (spends_budget && client.budget > 0);
    if (unknown && uploads(client)) return std::nullopt;
    AccessPlan plan = uploads(client) ? generation_plan(config_, client) : AccessPlan();
    plan.gradients[config_.batch_size] += config_.steps(client.oracle);
    return plan;
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return undeclared("synthetic images");
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    Pool pool(server.state);
    bool grows = false;
    for (const Message& message : uplink.each()) {
      grows = pool.add(message, server.model.options()) || grows;
      pool.label(message, server, config_.confidence);
    }
    average_updates(server, uplink, config_);
    // In between, only labels change.
    if (grows || server.round == server.rounds) server.synthetic = pool.all();
    train_on(server, pool.labelled());
  }

 private:
  static bool uploads(const Client& client) { return client.oracle.size() > 0 && client.participations == 0; }

  // A share of each gradient is that of a batch of the pool, passed through in an order of this client's.
  Correction on_pool(Client& client, const Message& downlink) const {
    if (!downlink.contains(kImages.name) || config_.pool_share == 0) return {};
    const Batch pool = decode_set(downlink, client.model.options());
    const std::int64_t count = pool.size();
    const std::int64_t batch = config_.batch_size > 0 ? std::min(config_.batch_size, count) : count;
    return [=, this, &client, order = torch::Tensor(), first = count,
            shuffles = client.streams(Purpose::kAlgorithm)](const Params& local, Params& gradient) mutable {
      if (first + batch > count) {
        order = torch::tensor(shuffles.permutation(count), torch::kInt64).to(pool.inputs.device());
        first = 0;
      }
      const Batch part = pool.select(order.narrow(0, first, batch));
      first += batch;
      gradient *= 1 - config_.pool_share;
      gradient.add_scaled(config_.pool_share * config_.weight_decay, local);  // which is not of the data
      gradient.add_scaled(config_.pool_share, client.compute.gradient(local, part));
    };
  }

  void train_on(Server& server, const Batch& labelled) const {
    server.observed.add("labelled", static_cast<double>(labelled.inputs.defined() ? labelled.size() : 0));
    if (!labelled.inputs.defined()) return;
    const Batch pool = labelled.to(server.model.options());
    const double rate = config_.rate_in(server.round, server.rounds);
    const Params start = server.params;
    SetDescent descent(config_.server_batch_size, server.compute, pool, server.streams(Purpose::kSynthetic));
    for (std::int64_t epoch = 0; epoch < config_.server_epochs; ++epoch)
      descent.next(server.params, start, std::numeric_limits<double>::infinity(), rate);
  }
};

}  // namespace

FEDARENA_PLUGIN("sdafl", "1.0.0") {
  registry.add<SdaFl>(
      "sda-fl",
      {.summary = "FedAvg on examples and a pool of the clients' synthetic images, labelled by their models.",
       .citation = "Li, Shao, Mao, Wang, Zhang, FL-IJCAI 2022, arXiv:2206.05507",
       .downlink = "model, synthetic images, pseudo labels",
       .uplink = "synthetic images once; model update, number of examples, number of the client",
       .requires_classes = true});
}
