// FedDF: Lin, Kong, Stich, Jaggi, "Ensemble distillation for robust model fusion in federated learning",
// NeurIPS 2020 (arXiv:2006.07242), Algorithm 1 (all clients share one architecture). Clients train as in
// FedAvg; the server starts at the weighted average of their models and learns the mean of their logits on
// public inputs without labels, [proxy].
//
// Differs from the paper: the number of steps is fixed, where the paper stops on a plateau of the accuracy on
// labelled validation data, which the server does not have; teachers are the models as they are sent, and
// what they say of a proxy example is computed once a round. What clients send is read one by one: an exact
// access under the policy "client"; under "local" it is noised before.
//
// Defaults are those of the paper: Adam with rate 1e-3, annealed by a cosine to zero, batches of 128, 10,000
// steps (there at most), momentum and weight decay of the clients' SGD zero.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <fedarena/adam.hpp>
#include <fedarena/algorithm.hpp>
#include <fedarena/distillation.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

// The share of inputs for which both say the same class.
double agreement(const torch::Tensor& left, const torch::Tensor& right) {
  return left.argmax(1).eq(right.argmax(1)).to(torch::kFloat64).mean().item<double>();
}

struct Config : ModelAveraging {
  std::int64_t distillation_steps = 10'000;
  std::int64_t distillation_batch_size = 128;
  double distillation_rate = 1e-3;

  static Schema<Config> schema() {
    return Schema<Config>{
        {"distillation_steps", &Config::distillation_steps, "steps of the server on proxy data in a round",
         Constraint::between(0, 10'000'000)},
        {"distillation_batch_size", &Config::distillation_batch_size, "proxy examples in a batch",
         Constraint::between(1, 1'000'000)},
        {"distillation_rate", &Config::distillation_rate, "first rate of the server's Adam",
         Constraint::positive()},
    }
        .extends<ModelAveraging>();
  }
};

class FedDf final : public Configured<Config> {
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
    std::vector<Params> teachers = decode_models(uplink, server.params);
    if (teachers.empty()) return;
    average_updates(server, uplink, config_);
    distil(server, Distillation(server.model, server.compute, std::move(teachers)));
  }

 private:
  void distil(Server& server, const Distillation& distillation) const {
    const torch::Tensor& proxy = server.proxy;
    const std::int64_t count = proxy.size(0), batch = config_.distillation_batch_size;
    torch::Tensor taught = torch::empty({count, server.model.num_classes()}, proxy.options());
    Stream shuffles = server.streams(Purpose::kSynthetic);
    Adam adam;
    for (std::int64_t step = 0; step < config_.distillation_steps;) {
      const bool first_pass = step == 0;
      const torch::Tensor order =
          torch::tensor(shuffles.permutation(count), torch::kInt64).to(proxy.device());
      for (std::int64_t first = 0; first < count && step < config_.distillation_steps;
           first += batch, ++step) {
        const torch::Tensor positions = order.narrow(0, first, std::min(batch, count - first));
        const torch::Tensor inputs = proxy.index_select(0, positions);
        if (first_pass) taught.index_copy_(0, positions, distillation.mean_outputs(inputs));
        const Batch lesson{inputs, taught.index_select(0, positions)};
        adam.step(server.params, distillation.gradient(server.params, lesson), rate_at(step));
        if (step + 1 == config_.distillation_steps && server.model.architecture().loss == Loss::kCrossEntropy)
          server.observed.add("agreement",
                              agreement(server.compute.outputs(server.params, inputs), lesson.targets));
      }
    }
  }

  double rate_at(std::int64_t step) const {
    const double progress = static_cast<double>(step) / static_cast<double>(config_.distillation_steps);
    return config_.distillation_rate * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
};

}  // namespace

FEDARENA_PLUGIN("feddf", "1.0.0") {
  registry.add<FedDf>(
      "feddf",
      {.summary = "FedAvg, whose server then learns the mean of the clients' logits on public inputs.",
       .citation = "Lin et al., NeurIPS 2020, arXiv:2006.07242",
       .downlink = "model",
       .uplink = "model update, number of examples",
       .requires_policy = {},
       .requires_proxy = true});
}
