// Local training of the ConvNet on all cores: the harness (FedAvg from its plugin, whole rounds without
// evaluation) against the loop that one writes with LibTorch alone. Both take the same number of SGD steps on
// batches of 256.
#include <memory>

#include <benchmark/benchmark.h>

#include "benchmarks/arena.hpp"
#include "benchmarks/plain_convnet.hpp"
#include "benchmarks/rival.hpp"
#include "benchmarks/speed.hpp"
#include "harness/models/operations.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kTurns = 10;
constexpr std::int64_t kBatch = 256;
constexpr std::int64_t kExamples = 2 * kBatch;
constexpr double kRate = 0.01;

// What the rival trains. Its images are floats already, scaled and in order: it pays for nothing but the
// training.
struct PlainSide {
  Batch examples;
  PlainConvNet net;
};

PlainSide make_plain_side() {
  const Scenario scenario{.examples = kExamples};
  const Dataset dataset = random_dataset(scenario);
  const Model model = make_model(scenario);
  return {first_examples(dataset.train, ExampleReader(dataset, model.options()), kExamples),
          PlainConvNet(initial_weights(model))};
}

std::function<void()> prepare_plain() {
  use_all_cores();
  return [side = std::make_shared<PlainSide>(make_plain_side())] {
    plain_training(side->net, side->examples, kBatch, kRate);
  };
}

std::function<void()> prepare_plain_that_keeps_memory() {
  keep_freed_memory();
  return prepare_plain();
}

// Both sides must compute the same, or their times mean nothing.
void require_same_gradient(const Arena& arena, const Batch& batch) {
  PlainConvNet net(initial_weights(arena.model()));
  net.step(batch, kRate);
  const torch::Tensor expected = net.flat_gradient();
  const torch::Tensor actual = arena.model().gradient(initial_weights(arena.model()), batch).flat();
  const double error = ((actual - expected).norm() / expected.norm()).item<double>();
  FEDARENA_CHECK(error, <, 1e-4);
}

void local_training(benchmark::State& state, const Rival& rival) {
  const std::int64_t clients = state.range(0);
  const Arena arena({.clients = clients, .examples = kExamples / clients});
  require_same_gradient(arena, first_examples(arena.dataset().train, arena.reader(), 64));
  const auto algorithm = fedavg({{"batch_size", kBatch}, {"rate", kRate}});
  Simulation simulation = arena.simulate(*algorithm);

  Duel duel([&] { simulation.next_round(); }, rival);
  for (auto _ : state) state.SetIterationTime(duel.turn());
  const Operations operations = count_operations(arena.model().architecture());
  duel.report(state, kExamples, static_cast<double>(operations.gradient));
  state.counters["gemm_gflops"] = gemm_gflops();
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using namespace fedarena::benchmarks;
  const Rival plain(prepare_plain);
  const Rival keeps_memory(prepare_plain_that_keeps_memory);
  const auto add = [](const char* name, const Rival& rival) {
    benchmark::RegisterBenchmark(name, [&rival](benchmark::State& state) { local_training(state, rival); })
        ->ArgName("clients")
        ->Arg(1)
        ->Arg(2)
        ->Iterations(kTurns)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  add("local_training/plain", plain);
  add("local_training/plain_that_keeps_memory", keeps_memory);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
