// Evaluation of the ConvNet on all cores, forward passes only: the harness (bytes in, loss and accuracy out)
// against plain LibTorch on batches of 256 that are floats already.
#include <benchmark/benchmark.h>

#include "benchmarks/arena.hpp"
#include "benchmarks/plain_net.hpp"
#include "benchmarks/rival.hpp"
#include "benchmarks/speed.hpp"
#include "harness/models/operations.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kTurns = 10;
constexpr std::int64_t kBatch = 256;
constexpr std::int64_t kExamples = 4 * kBatch;
const Scenario kScenario{.test_examples = kExamples};

std::function<void()> prepare_plain() {
  use_all_cores();
  const Dataset dataset = random_dataset(kScenario);
  const Model model = make_model(kScenario);
  const Batch examples = first_examples(dataset.test, ExampleReader(dataset, model.options()), kExamples);
  return [examples, net = PlainNet(plain_convnet, initial_weights(model))] {
    plain_evaluation(net, examples, kBatch);
  };
}

void evaluation(benchmark::State& state, const Rival& rival) {
  const Arena arena(kScenario);
  const Params weights = initial_weights(arena.model());
  const BatchSource source = [&](std::int64_t begin, std::int64_t end) {
    return arena.reader().read(arena.dataset().test, torch::arange(begin, end, torch::kInt64));
  };

  const Operations operations = count_operations(arena.model());
  compare(state, rival, kExamples, static_cast<double>(operations.forward),
          [&] { arena.engine().evaluate(weights, kExamples, source); });
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using namespace fedarena::benchmarks;
  register_against("evaluation/plain", prepare_plain, evaluation)->Apply(timed_by_hand<kTurns>);
  return run_benchmarks(count, arguments);
}
