// Local training on all cores: the harness (FedAvg from its plugin, whole rounds without evaluation) against
// the loop that one writes with LibTorch alone. Both take the same number of SGD steps on batches of one
// size.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/arena.hpp"
#include "benchmarks/plain_net.hpp"
#include "benchmarks/rival.hpp"
#include "benchmarks/speed.hpp"
#include "harness/models/operations.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kTurns = 10;
constexpr double kRate = 0.01;

// A net and its batches.
struct Workload {
  std::string model;
  std::int64_t batch, examples;

  Scenario scenario(std::int64_t clients) const {
    return {.model = model, .clients = clients, .examples = examples / clients};
  }
};
const Workload kConvNet{"convnet", 256, 512};
const Workload kNiidCnn{"niid-cnn", 64, 5120};  // NIID-Bench's batches

// What the rival trains. Its images are floats already, scaled and in order: it pays for nothing but the
// training.
struct PlainSide {
  Batch examples;
  PlainNet net;
};

PlainSide make_plain_side(const Workload& work) {
  const Scenario scenario = work.scenario(1);
  const Dataset dataset = random_dataset(scenario);
  const Model model = make_model(scenario);
  return {first_examples(dataset.train, ExampleReader(dataset, model.options()), work.examples),
          PlainNet(plain_forward(work.model), initial_weights(model))};
}

std::function<void()> prepare_plain(const Workload& work, bool keeps_memory) {
  if (keeps_memory) keep_freed_memory();
  use_all_cores();
  return [side = std::make_shared<PlainSide>(make_plain_side(work)), work] {
    plain_training(side->net, side->examples, work.batch, kRate);
  };
}

// Both sides must compute the same, or their times mean nothing.
void require_same_gradient(const Workload& work, const Arena& arena, const Batch& batch) {
  PlainNet net(plain_forward(work.model), initial_weights(arena.model()));
  net.step(batch, kRate);
  const torch::Tensor expected = net.flat_gradient();
  const torch::Tensor actual = arena.model().gradient(initial_weights(arena.model()), batch).flat();
  const double error = ((actual - expected).norm() / expected.norm()).item<double>();
  FEDARENA_CHECK(error, <, 1e-4);
}

void local_training(benchmark::State& state, const Workload& work, const Rival& rival) {
  const Arena arena(work.scenario(state.range(0)));
  require_same_gradient(work, arena, first_examples(arena.dataset().train, arena.reader(), 64));
  const auto algorithm = fedavg({{"batch_size", work.batch}, {"rate", kRate}});
  Simulation simulation = arena.simulate(*algorithm);

  const Operations operations = count_operations(arena.model());
  compare(state, rival, static_cast<double>(work.examples), static_cast<double>(operations.gradient),
          [&] { simulation.next_round(); });
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using namespace fedarena::benchmarks;
  for (const Workload* work : {&kConvNet, &kNiidCnn}) {
    for (const bool keeps_memory : {false, true}) {
      register_against(
          work->model + (keeps_memory ? "/plain_that_keeps_memory" : "/plain"),
          [=] { return prepare_plain(*work, keeps_memory); },
          [=](benchmark::State& state, const Rival& rival) { local_training(state, *work, rival); })
          ->ArgName("clients")
          ->Arg(1)
          ->Arg(2)
          ->Apply(timed_by_hand<kTurns>);
    }
  }
  return run_benchmarks(count, arguments);
}
