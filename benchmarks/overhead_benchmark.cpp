// What a run costs beyond its gradients: the share of a round with a real model, the time of a client-round
// when gradients cost nothing, and the memory that rounds leave behind.
#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/arena.hpp"
#include "benchmarks/speed.hpp"
#include "harness/simulation/cohort.hpp"
#include "results/record/run_directory.hpp"
#include "tests/harness/sdk/forwarding.hpp"
#include "tests/scratch.hpp"

namespace fedarena::benchmarks {
namespace {

// Seconds spent in one round.
struct Tally {
  double oracle = 0;  // in Oracle::gradient
  double engine = 0;  // in the same gradients, taken from the engine directly
  std::int64_t gradients = 0;
};

// Answers as the true oracle does and, beside each gradient, takes one of as many examples from the engine
// directly: the two lie within a fraction of a second, so that a change of the machine's speed cancels.
class PairedOracle final : public ForwardingOracle {
 public:
  PairedOracle(Oracle& inner, const GradientEngine& engine, const Batch& examples, Tally& tally)
      : ForwardingOracle(inner), engine_(engine), examples_(examples), tally_(tally) {}

  Params gradient(const Params& at, const Query& query) override {
    const bool direct_first = tally_.gradients++ % 2 == 0;
    if (direct_first) direct(at, query.batch_size);
    Params result;
    tally_.oracle += seconds_of([&] { result = inner().gradient(at, query); });
    if (!direct_first) direct(at, query.batch_size);
    return result;
  }

 private:
  void direct(const Params& at, std::int64_t batch_size) {
    tally_.engine += seconds_of([&] { engine_.mean_gradient(at, batch_size, slices_of(examples_)); });
  }

  const GradientEngine& engine_;
  const Batch& examples_;  // floats already: reading and scaling them counts as overhead
  Tally& tally_;
};

// Percent of a round, with the ConvNet, that the same gradients do not take when the engine computes them
// directly.
void share_of_a_round(benchmark::State& state) {
  constexpr std::int64_t kBatch = 64;
  const Arena arena({.clients = 5, .examples = 10 * kBatch, .workers = 1});
  const Batch examples = first_examples(arena.dataset().train, arena.reader(), kBatch);
  Tally tally;
  Replaced algorithm(fedavg({{"batch_size", kBatch}, {"local_steps", std::int64_t{10}}, {"rate", 0.01}}));
  algorithm.train_with = [&](Client& client, const Message& downlink) {
    PairedOracle oracle(client.oracle, arena.engine(), examples, tally);
    Client view = observed(client, oracle, client.compute);
    return algorithm.inner().train(view, downlink);
  };
  Simulation simulation = arena.simulate(algorithm);
  simulation.next_round();

  std::vector<double> overheads;
  std::vector<double> outside;
  double best_round = 0;
  for (auto _ : state) {
    tally = {};
    const double wall = seconds_of([&] { simulation.next_round(); });
    const double round = wall - tally.engine;
    state.SetIterationTime(round);
    overheads.push_back(100 * (1 - tally.engine / round));
    outside.push_back(100 * (1 - tally.oracle / round));
    best_round = best_round == 0 ? round : std::min(best_round, round);
  }
  state.counters["not_gradients_percent"] = median(overheads);
  state.counters["outside_oracle_percent"] = median(outside);
  state.counters["best_round_s"] = best_round;
}
BENCHMARK(share_of_a_round)->Apply(timed_by_hand<3>);

// By how many percent the rounds of the second simulation take longer, median over turns.
void report_more(benchmark::State& state, Simulation& plain, Simulation& other) {
  const Turns turns =
      take_turns(state, timed([&] { plain.next_round(); }), timed([&] { other.next_round(); }));
  state.counters["more_percent"] = 100 * (median(ratios(turns.second.wall, turns.first.wall)) - 1);
  state.counters["plain_ms"] = 1e3 * median(turns.first.wall);
}

// What a thousand gradient canaries add to rounds of DP-SGD.
void audit(benchmark::State& state, const Scenario& shape) {
  Scenario scenario = shape;
  scenario.clients = 5;
  scenario.examples = 640;
  const Arena arena(scenario);
  const auto algorithm =
      fedavg({{"batch_size", std::int64_t{64}}, {"local_steps", std::int64_t{10}}, {"rate", 0.01}});
  Simulation plain = arena.simulate(*algorithm, RecordPolicy());
  Simulation audited = arena.simulate(*algorithm, RecordPolicy(), {}, {kGradientCanaries, 1000});
  report_more(state, plain, audited);
}
BENCHMARK_CAPTURE(audit, convnet, {})->Apply(timed_by_hand<10>);
BENCHMARK_CAPTURE(audit, logistic, {.model = "logistic", .input_shape = {1, 28, 28}})
    ->Apply(timed_by_hand<300>);

// FEMNIST: the network, and clients of about as many examples as its writers have on average.
const Scenario kFemnist{
    .model = "femnist-cnn", .input_shape = {1, 28, 28}, .outputs = 62, .clients = 5, .examples = 200};
const Settings kFemnistTraining{{"batch_size", std::int64_t{20}}, {"rate", 0.01}};

// What clipping and noising each message adds to rounds of FedAvg.
void local_noise(benchmark::State& state, const char* mechanism) {
  const Arena arena(kFemnist);
  const auto algorithm = fedavg(kFemnistTraining);
  LocalPolicy policy;
  policy.mechanism = mechanism;
  Simulation plain = arena.simulate(*algorithm);
  Simulation noised = arena.simulate(*algorithm, policy);
  report_more(state, plain, noised);
}
BENCHMARK_CAPTURE(local_noise, gaussian, kLocalGaussian)->Apply(timed_by_hand<10>);
BENCHMARK_CAPTURE(local_noise, laplace, kLocalLaplace)->Apply(timed_by_hand<10>);

// What six further hypotheses of IFCA add to a round on one worker, in forward passes over the same examples.
void hypotheses(benchmark::State& state) {
  constexpr std::int64_t kMore = 6;
  Scenario scenario = kFemnist;
  scenario.workers = 1;
  const Arena arena(scenario);
  const auto with = [&](std::int64_t count) {
    Settings settings = kFemnistTraining;
    settings.emplace_back("hypotheses", count);
    return from_plugin("ifca", settings);
  };
  const auto one = with(1), seven = with(1 + kMore);
  Simulation first = arena.simulate(*one), second = arena.simulate(*seven);
  const Batch examples = first_examples(arena.dataset().train, arena.reader(), scenario.examples);
  const Params at = initial_weights(arena.model());
  std::vector<double> passes;
  const auto all_passes = [&] {
    for (std::int64_t i = 0; i < kMore * scenario.clients; ++i) {
      arena.engine().evaluate(at, scenario.examples, slices_of(examples));
    }
  };
  first.next_round();
  second.next_round();
  std::vector<double> ratios;
  for (auto _ : state) {
    const double forward = seconds_of(all_passes);
    const double plain = seconds_of([&] { first.next_round(); });
    const double more = seconds_of([&] { second.next_round(); });
    state.SetIterationTime(more);
    ratios.push_back((more - plain) / forward);
    passes.push_back(forward);
  }
  state.counters["more_over_passes"] = median(ratios);
  state.counters["passes_ms"] = 1e3 * median(passes);
}
BENCHMARK(hypotheses)->Apply(timed_by_hand<10>);

// The server's round of IFCA with k-means: 100 messages of 1.2 million numbers, 7 hypotheses. The messages
// lie around the hypotheses, as sent models do, so that every client is assigned within three iterations.
void k_means(benchmark::State& state) {
  constexpr std::int64_t kHypotheses = 7, kMessages = 100;
  const Arena arena(kFemnist);
  const auto algorithm =
      from_plugin("ifca", {{"hypotheses", kHypotheses}, {"assign", std::string("k-means")}});
  Params params = initial_weights(arena.model());
  Message memory;
  Batch synthetic;
  Observations observed;
  std::vector<std::int64_t> choices;
  Server server{.round = 1,
                .rounds = 1,
                .population = kMessages,
                .params = params,
                .state = memory,
                .model = arena.model(),
                .compute = arena.compute(),
                .streams = Streams(1, 1, kServer).for_algorithm(),
                .synthetic = synthetic,
                .observed = observed,
                .choices = choices};
  algorithm->start(server);
  const std::vector<Params> centres = algorithm->centres(algorithm->broadcast(server));
  std::vector<Message> messages;
  Stream draws({.seed = 1});
  for (std::int64_t i = 0; i < kMessages; ++i) {
    Params sent = centres[static_cast<std::size_t>(i % kHypotheses)];
    sent.flat().add_(normal(draws, {sent.flat().numel()}).to(sent.flat().options()), 1e-3);
    messages.push_back({{Key<Params>{"trained_model"}, std::move(sent)}});
  }
  const CohortUplink uplink(std::move(messages));
  double cpu = 0;
  for (auto _ : state) {
    const Message before = memory;
    const Cost cost = cost_of([&] { algorithm->aggregate(server, uplink); });
    cpu += cost.cpu;
    state.SetIterationTime(cost.wall);
    memory = before;
  }
  state.counters["cpu_s"] = benchmark::Counter(cpu, benchmark::Counter::kAvgIterations);
}
BENCHMARK(k_means)->Apply(timed_by_hand<5>);

// A thousand clients of twelve examples, one local epoch of FedAvg each.
void client_round(benchmark::State& state, const Scenario& shape) {
  constexpr std::int64_t kClients = 1000;
  Scenario scenario = shape;
  scenario.model = "linear";
  scenario.clients = kClients;
  scenario.examples = 12;
  scenario.workers = static_cast<int>(state.range(0));
  const Arena arena(scenario);
  const auto algorithm = fedavg({{"rate", 0.001}});
  Simulation simulation = arena.simulate(*algorithm);
  simulation.next_round();
  const std::vector<double> seconds = time_each(state, [&] { simulation.next_round(); });
  state.counters["us_per_client_round"] = 1e6 * median(seconds) / kClients;
  state.counters["best_us"] = 1e6 * smallest(seconds) / kClients;
}
BENCHMARK_CAPTURE(client_round, images_784_to_10, {.input_shape = {1, 28, 28}, .outputs = 10})
    ->ArgName("workers")
    ->Arg(1)
    ->Arg(2)
    ->Apply(timed_by_hand<30>);
BENCHMARK_CAPTURE(client_round, regression_10_to_1, {.input_shape = {10}, .outputs = 1})
    ->ArgName("workers")
    ->Arg(1)
    ->Arg(2)
    ->Apply(timed_by_hand<30>);

// Resident memory after 50 rounds and after 500, with the ledger kept and every round written to a run
// directory.
void memory(benchmark::State& state) {
  constexpr int kSettled = 50;
  constexpr int kRounds = 500;
  const Arena arena({.model = "mlp", .input_shape = {1, 28, 28}, .clients = 10, .examples = 64});
  const auto algorithm = fedavg({{"rate", 0.001}});
  std::int64_t settled = 0;
  std::int64_t finished = 0;
  for (auto _ : state) {
    Simulation simulation = arena.simulate(*algorithm);
    const test::Scratch scratch;
    results::Summary plan;
    plan.data_hash = std::string(64, 'a');
    plan.partition_id = "iid(seed=1)";
    plan.partition_hash = "0123456789abcdef";
    plan.rounds = kRounds;
    results::RunDirectory directory = results::RunDirectory::create(scratch.path() / "run", "", "", plan);
    for (int round = 1; round <= kRounds; ++round) {
      directory.append(simulation.next_round());
      if (round == kSettled) settled = resident_kib();
    }
    finished = resident_kib();
  }
  state.counters["kib_after_50"] = static_cast<double>(settled);
  state.counters["kib_after_500"] = static_cast<double>(finished);
  state.counters["growth_kib"] = static_cast<double>(finished - settled);
}
BENCHMARK(memory)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
