// signSGD with majority vote, and its momentum form Signum: Bernstein, Wang, Azizzadenesheli, Anandkumar,
// "signSGD: compressed optimisation for non-convex problems", ICML 2018, Algorithms 1 to 3
// (arXiv:1802.04434). With spread > 0 each sign is drawn as in sto-sign: Jin, Huang, He, Dai, Wu,
// "Stochastic-sign SGD for federated learning with theoretical guarantees", 2020, Definition 2
// (arXiv:2002.10940).
//
// Differs from the papers: signs travel as floating numbers, not as bits.
#include <fedarena/algorithm.hpp>

namespace {

using namespace fedarena;

constexpr Key<Params> kModel{"model"};
constexpr Key<Params> kSigns{"signs"};
constexpr Key<Params> kMomentum{"momentum"};

struct Config {
  std::int64_t batch_size = 64;
  double rate = 0.001;
  double momentum = 0.9;
  double spread = 0.0;

  void validate() const {
    if (momentum == 1) throw Error(Complaint{.found = "momentum = 1 never looks at a gradient"});
  }

  static Schema<Config> schema() {
    return {
        {"batch_size", &Config::batch_size, "examples in a batch; 0: the whole shard",
         Constraint::between(0, 10'000'000)},
        {"rate", &Config::rate, "distance that every weight moves in a round", Constraint::positive()},
        {"momentum", &Config::momentum, "share of the old momentum that a client keeps",
         Constraint::between(0, 1)},
        {"spread", &Config::spread, "b of sto-sign: gradients beyond it keep their sign; 0: all do",
         Constraint::at_least(0)},
    };
  }
};

class SignSgd final : public Configured<Config> {
 public:
  using Configured::Configured;

  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    const Params gradient = client.oracle.gradient(start, {.batch_size = config_.batch_size});
    Params momentum = client.state.get_or(kMomentum, zeros_like(start));
    momentum *= config_.momentum;
    momentum.add_scaled(1 - config_.momentum, gradient);
    client.state.put(kMomentum, momentum);
    return {{kSigns, signs_of(momentum, client.streams)}};
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override { return {kSigns}; }

  void aggregate(Server& server, const Uplink& uplink) const override {
    const Params votes = uplink.mean(kSigns);
    server.params.add_scaled(-config_.rate, Params(votes.layout(), votes.flat().sign()));
  }

 private:
  Params signs_of(const Params& values, const Streams& streams) const {
    torch::Tensor flat = values.flat();
    if (config_.spread > 0) {
      Stream stream = streams(Purpose::kAlgorithm);
      flat = flat + uniform(stream, {flat.numel()}, -config_.spread, config_.spread).to(flat.options());
    }
    return {values.layout(), flat.sign()};
  }
};

}  // namespace

FEDARENA_PLUGIN("sign_sgd", "1.0.0") {
  registry.add<SignSgd>("sign-sgd",
                        {.summary = "Every weight moves by a fixed distance, as most clients vote.",
                         .citation = "Bernstein et al., ICML 2018, arXiv:1802.04434",
                         .downlink = "model",
                         .uplink = "a sign per weight"});
}
