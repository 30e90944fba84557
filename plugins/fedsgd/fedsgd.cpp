// FedSGD: McMahan, Moore, Ramage, Hampson, Aguera y Arcas, "Communication-efficient learning of deep networks
// from decentralized data", AISTATS 2017, Section 2 (arXiv:1602.05629).
//
// Differs from the paper: a client's gradient may be that of one batch instead of all its examples, the rate
// may fall over the rounds, and weighting = "uniform" averages clients alike.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kGradient{"gradient"};

struct Config : RateSchedule, Weighting {
  std::int64_t batch_size = 0;

  static Schema<Config> schema() {
    return Schema<Config>{{"batch_size", &Config::batch_size,
                           "examples in the batch of a client's gradient; 0: the whole shard",
                           Constraint::between(0, 10'000'000)}}
        .extends<Weighting, RateSchedule>();
  }
};

class FedSgd final : public Configured<Config> {
 public:
  using Configured::Configured;

  Message train(Client& client, const Message& downlink) const override {
    return {{kGradient, client.oracle.gradient(downlink[kModel], {.batch_size = config_.batch_size})},
            {kExamples, client.oracle.size()}};
  }

  std::optional<AccessPlan> access_plan(const Client& /*client*/) const override {
    return AccessPlan{.gradients = {{config_.batch_size, 1}}};
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    return {kGradient, kExamples};
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    const double rate = config_.rate_in(server.round, server.rounds);
    server.params.add_scaled(-rate, weighted_mean(uplink, kGradient, config_));
  }
};

}  // namespace

FEDARENA_PLUGIN("fedsgd", "1.0.0") {
  registry.add<FedSgd>("fedsgd", {.summary = "One gradient of every client, then a step along their mean.",
                                  .citation = "McMahan et al., AISTATS 2017, arXiv:1602.05629",
                                  .downlink = "model",
                                  .uplink = "gradient, number of examples"});
}
