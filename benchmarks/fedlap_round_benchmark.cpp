// Where the time of a FedLAP-DP round goes: one client with the settings of
// experiments/fedlap/table2-mnist.toml, on random images of MNIST's shape.

#include <benchmark/benchmark.h>

#include "benchmarks/arena.hpp"
#include "benchmarks/speed.hpp"
#include "tests/harness/sdk/forwarding.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr std::int64_t kTrajectories = 4;
constexpr std::int64_t kOuterSteps = 5;
constexpr double kMebi = 1024;  // KiB

// Seconds of one round, by what they were spent on.
struct Split {
  double real_gradients = 0, matching = 0, model_steps = 0, server = 0;
  std::int64_t accesses = 0;
};

class TimedOracle final : public ForwardingOracle {
 public:
  TimedOracle(Oracle& inner, Split& split) : ForwardingOracle(inner), split_(split) {}

  Params gradient(const Params& at, const Query& query) override {
    Params result;
    ++split_.accesses;
    split_.real_gradients += seconds_of([&] { result = inner().gradient(at, query); });
    return result;
  }

 private:
  Split& split_;
};

class TimedCompute final : public Compute {
 public:
  TimedCompute(const Compute& inner, Split& split) : inner_(inner), split_(split) {}

  Params gradient(const Params& at, const Batch& batch) const override {
    Params result;
    split_.model_steps += seconds_of([&] { result = inner_.gradient(at, batch); });
    return result;
  }
  torch::Tensor input_gradient(const Params& at, const Batch& batch, const Slope& slope) const override {
    torch::Tensor result;
    split_.matching += seconds_of([&] { result = inner_.input_gradient(at, batch, slope); });
    return result;
  }
  std::unique_ptr<Compute> on(const Model& model) const override { return inner_.on(model); }
  torch::Tensor outputs(const Params& at, const torch::Tensor& inputs) const override {
    return inner_.outputs(at, inputs);
  }
  OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                 const torch::Tensor& slopes) const override {
    return inner_.output_gradient(at, inputs, slopes);
  }
  void stop_if_interrupted() const override { inner_.stop_if_interrupted(); }

 private:
  const Compute& inner_;
  Split& split_;
};

void fedlap_round(benchmark::State& state) {
  const Arena arena({.input_shape = {1, 28, 28}, .examples = 11'339});
  // Two images of each of ten classes, as many as ten of each of a client's two.
  Replaced algorithm(
      from_plugin("fedlap-dp", {{"images_per_class", std::int64_t{2}},
                                {"trajectories", kTrajectories},
                                {"outer_steps", kOuterSteps},
                                {"real_batches", state.range(0) / (kTrajectories * kOuterSteps)},
                                {"batch_size", std::int64_t{256}},
                                {"rate", 0.002}}));
  RecordPolicy policy;
  policy.clip_norm = 1;
  policy.noise_multiplier = 1;
  Split split;
  algorithm.train_with = [&](Client& client, const Message& downlink) {
    TimedOracle oracle(client.oracle, split);
    const TimedCompute compute(client.compute, split);
    Client view = observed(client, oracle, compute);
    return algorithm.inner().train(view, downlink);
  };
  algorithm.aggregate_with = [&](Server& server, const Uplink& uplink) {
    split.server += seconds_of([&] { algorithm.inner().aggregate(server, uplink); });
  };
  Simulation simulation = arena.simulate(algorithm, policy);
  for (auto _ : state) {
    split = {};
    const double round = seconds_of([&] { simulation.next_round(); });
    state.SetIterationTime(round);
    state.counters["private_s"] = split.real_gradients;
    state.counters["matching_s"] = split.matching;
    state.counters["model_steps_s"] = split.model_steps;
    state.counters["server_s"] = split.server;
    state.counters["other_s"] =
        round - split.real_gradients - split.matching - split.model_steps - split.server;
    state.counters["accesses"] = static_cast<double>(split.accesses);
  }
  state.counters["peak_mib"] = static_cast<double>(peak_resident_kib()) / kMebi;
}
BENCHMARK(fedlap_round)
    ->ArgName("accesses")
    ->Arg(20)
    ->Arg(200)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
