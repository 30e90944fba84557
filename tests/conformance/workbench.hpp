#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/algorithm.hpp"

#include "harness/simulation/public_compute.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/harness/sdk/open_shard.hpp"

namespace fedarena {

/// Messages of clients that send no Params.
class SentMessages final : public Uplink {
 public:
  explicit SentMessages(std::vector<Message> messages) : messages_(std::move(messages)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(messages_.size()); }
  Params mean(Key<Params>) const override { throw Bug("no Params are sent"); }
  Params mean(Key<Params>, Key<std::int64_t>) const override { throw Bug("no Params are sent"); }
  std::span<const Message> each() const override { return messages_; }

 private:
  std::vector<Message> messages_;
};

/// One client or one server of a model in double precision, without a harness around them, in round 1 of seed
/// 1.
class Workbench {
 public:
  explicit Workbench(Architecture architecture) : model(std::move(architecture), torch::kFloat64) {}

  static Streams client_streams() { return {1, 1, 0}; }

  Message train(const Algorithm& algorithm, Oracle& oracle, const Message& downlink,
                const Streams& streams = client_streams()) const {
    Message state;
    Client client{.id = 0,
                  .round = 1,
                  .rounds = 1,
                  .oracle = oracle,
                  .state = state,
                  .model = model,
                  .compute = compute,
                  .streams = streams,
                  .observed = observed};
    return algorithm.train(client, downlink);
  }

  /// Where the messages take the server from `start`.
  Params aggregate(const Algorithm& algorithm, const Params& start, std::vector<Message> sent) const {
    Params params = start;
    with_server(params, 1, 1,
                [&](Server& server) { algorithm.aggregate(server, SentMessages(std::move(sent))); });
    return params;
  }

  void start(const Algorithm& algorithm, std::int64_t population, std::int64_t rounds) const {
    Params params = Params::zeros(model.layout(), model.options());
    with_server(params, population, rounds, [&](Server& server) { algorithm.start(server); });
  }

  Model model;
  WorkPool pool = pool_of(2);
  GradientEngine engine{model, pool};
  std::atomic<bool> stop = false;
  PublicCompute compute{engine, stop};
  mutable Observations observed;  ///< by all clients and servers so far

  double observed_mean(std::string_view name) const {
    const auto& [sum, count] = observed.values().find(name)->second;
    return sum / static_cast<double>(count);
  }

 private:
  template <typename Call>
  void with_server(Params& params, std::int64_t population, std::int64_t rounds, const Call& call) const {
    Message state;
    Batch synthetic;
    std::vector<std::int64_t> choices;
    Server server{.round = 1,
                  .rounds = rounds,
                  .population = population,
                  .params = params,
                  .state = state,
                  .model = model,
                  .compute = compute,
                  .streams = Streams(1, 1, kServer),
                  .synthetic = synthetic,
                  .observed = observed,
                  .choices = choices};
    call(server);
  }
};

}  // namespace fedarena
