#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/algorithm.hpp"
#include "fedarena/synthetic_sets.hpp"

#include "harness/simulation/cohort.hpp"
#include "harness/simulation/public_compute.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/harness/sdk/open_shard.hpp"

namespace fedarena {

/// What a client sends whose synthetic set that is, and who holds so many examples.
inline Message sent_set(const Batch& set, std::int64_t examples) {
  return {{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, examples}};
}

/// What a server has, outside a harness.
struct LoneServer {
  Params params;
  Message state = {};
  Batch synthetic = {};
  std::vector<std::int64_t> choices = {};
  torch::Tensor proxy = {}, pixel_range = {};
};

/// Clients and servers of a model in double precision, without a harness around them, by seed 1.
class Workbench {
 public:
  explicit Workbench(Architecture architecture) : model(std::move(architecture), torch::kFloat64) {}

  static Streams client_streams(std::int64_t round = 1) { return {1, round, 0}; }

  Client client(Oracle& oracle, Message& state, std::int64_t round, std::int64_t rounds,
                const Streams& streams) const {
    return {.id = 0,
            .round = round,
            .rounds = rounds,
            .oracle = oracle,
            .state = state,
            .model = model,
            .compute = compute,
            .streams = streams,
            .observed = observed};
  }
  Server server(LoneServer& lone, std::int64_t round, std::int64_t rounds, std::int64_t population) const {
    return {.round = round,
            .rounds = rounds,
            .population = population,
            .params = lone.params,
            .state = lone.state,
            .model = model,
            .compute = compute,
            .streams = Streams(1, round, kServer),
            .synthetic = lone.synthetic,
            .observed = observed,
            .choices = lone.choices,
            .proxy = lone.proxy,
            .pixel_range = lone.pixel_range};
  }

  /// What the client sends in the only round.
  Message train(const Algorithm& algorithm, Oracle& oracle, const Message& downlink,
                const Streams& streams = client_streams()) const {
    Message state;
    Client alone = client(oracle, state, 1, 1, streams);
    return algorithm.train(alone, downlink);
  }

  /// Where the messages take the server from `start` in the only round.
  Params aggregate(const Algorithm& algorithm, const Params& start, std::vector<Message> sent) const {
    LoneServer lone{start};
    Server only = server(lone, 1, 1, 1);
    algorithm.aggregate(only, CohortUplink(std::move(sent)));
    return lone.params;
  }

  void start(const Algorithm& algorithm, std::int64_t population, std::int64_t rounds) const {
    LoneServer lone{zeros()};
    Server starting = server(lone, 1, rounds, population);
    algorithm.start(starting);
  }

  Params zeros() const { return Params::zeros(model.layout(), model.options()); }
  double observed_mean(std::string_view name) const {
    const auto& [sum, count] = observed.values().find(name)->second;
    return sum / static_cast<double>(count);
  }

  Model model;
  WorkPool pool = pool_of(2);
  GradientEngine engine{model, pool};
  std::atomic<bool> stop = false;
  PublicCompute compute{engine, stop};
  mutable Observations observed;  ///< by all clients and servers so far
};

}  // namespace fedarena
