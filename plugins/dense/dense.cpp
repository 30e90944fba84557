// DENSE: Zhang, Chen, Li, Lyu, Wu, Ding, Shen, Wu, "DENSE: data-free one-shot federated learning", NeurIPS
// 2022 (arXiv:2112.12371), Algorithm 1. Clients train and send their models, once. In each of its epochs the
// server moves a fresh generator so that the clients' mean logits say given classes and its own model
// contradicts them, adds a batch of these images to a pool, and its model learns the mean logits on the pool.
//
// Differs from the paper and the authors' code (github.com/zj-jayzhang/DENSE): the loss on statistics of
// batch normalisation is left out, its weight is 0, because our models normalise each example by itself and
// have no such statistics; the generator normalises each image where theirs normalises batches, its
// convolutions have biases, and weights start as all models do here; images are not augmented, and the pool
// holds them as they are, not in 8 bits, at most `pool_batches` of them, the oldest leaving first, so that
// memory is bounded; what teachers say of an image is computed once. All clients have one architecture. The
// last model is the result, where the published figures are the best of all epochs on test data. What clients
// send is read one by one: an exact access under the policy "client"; under "local" it is noised before.
//
// Defaults are those of the code and its README: clients with rate 0.01, momentum 0.9, batches of 128, 400
// epochs; 200 epochs of the server, 30 steps of Adam with rate 1e-3 and betas 0.5 and 0.999 on generator and
// noise, 256 images a batch; distillation at temperature 20 by SGD with rate 0.005 and momentum 0.9.
#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <fedarena/algorithm.hpp>
#include <fedarena/distillation.hpp>
#include <fedarena/model_averaging.hpp>

#include "generator.hpp"

namespace dense {
namespace {

using namespace fedarena;

// Streams of kSynthetic: what generators draw, and the order of the pool.
constexpr std::uint64_t kDraws = 0, kShuffles = 1;

struct Config : Synthesis, LocalTraining {
  Config() {
    rate = 0.01;
    momentum = 0.9;
    batch_size = 128;
    local_epochs = 400;
  }

  std::int64_t server_epochs = 200;
  std::int64_t pool_batches = 200;
  double temperature = 20;
  double student_rate = 0.005;
  double student_momentum = 0.9;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"server_epochs", &Config::server_epochs,
         "batches of images, each followed by one pass over the pool", Constraint::between(0, 1'000'000)},
        {"pool_batches", &Config::pool_batches,
         "batches of images that the server keeps in memory, the newest", Constraint::between(1, 1'000'000)},
        {"temperature", &Config::temperature, "what logits are divided by in the distillation",
         Constraint::positive()},
        {"student_rate", &Config::student_rate, "learning rate of the server's model",
         Constraint::positive()},
        {"student_momentum", &Config::student_momentum, "momentum of the server's model",
         Constraint::between(0, 1)},
    }
        .extends<Synthesis, LocalTraining>();
  }
};

// The newest `most` examples of both.
Batch joined(const Batch& pool, const Batch& more, std::int64_t most) {
  if (!pool.inputs.defined()) return more;
  const auto newest = [&](const torch::Tensor& left, const torch::Tensor& right) {
    const std::int64_t kept = std::min(left.size(0), std::max<std::int64_t>(0, most - right.size(0)));
    return torch::cat({left.narrow(0, left.size(0) - kept, kept), right});
  };
  return {newest(pool.inputs, more.inputs), newest(pool.targets, more.targets)};
}

class Dense final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override {
    const Generator checked(config_, server);  // before anybody has worked for nothing
  }

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    return update_message(client, start, train_locally(client, start, config_));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return training_plan(client, config_);
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    std::vector<Params> teachers = decode_models(uplink, server.params);
    if (teachers.empty()) return;
    const Distillation distillation(server.model, server.compute, std::move(teachers), config_.temperature);
    const Generator generator(config_, server);
    Stream draws = server.streams(Purpose::kSynthetic, kDraws),
           shuffles = server.streams(Purpose::kSynthetic, kShuffles);
    Batch pool;  // targets are what the teachers say
    Params velocity = zeros_like(server.params);
    for (std::int64_t epoch = 0; epoch < config_.server_epochs; ++epoch) {
      const auto [images, objective] = generator.synthesise(distillation, server.params, draws);
      server.observed.add("generator-loss", objective);
      server.synthetic = images;
      pool = joined(pool, {images.inputs, distillation.mean_outputs(images.inputs)},
                    config_.pool_batches * config_.synthetic_batch_size);
      learn(server.params, velocity, distillation, pool, shuffles);
    }
  }

 private:
  // One pass over the pool.
  void learn(Params& student, Params& velocity, const Distillation& distillation, const Batch& pool,
             Stream& shuffles) const {
    const torch::Tensor order =
        torch::tensor(shuffles.permutation(pool.size()), torch::kInt64).to(pool.inputs.device());
    const std::int64_t batch = config_.synthetic_batch_size;
    for (std::int64_t first = 0; first < pool.size(); first += batch) {
      const torch::Tensor positions = order.narrow(0, first, std::min(batch, pool.size() - first));
      velocity *= config_.student_momentum;
      velocity += distillation.gradient(student, pool.select(positions));
      student.add_scaled(-config_.student_rate, velocity);
    }
  }
};

}  // namespace
}  // namespace dense

FEDARENA_PLUGIN("dense", "1.0.0") {
  registry.add<dense::Dense>(
      "dense", {.summary = "Clients send their models, once; the server teaches its own by generated images.",
                .citation = "Zhang et al., NeurIPS 2022, arXiv:2112.12371",
                .downlink = "model",
                .uplink = "model update, number of examples",
                .one_round = true});
}
