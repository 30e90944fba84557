// Clipped per-example gradients against plain mean gradients of the same engine: the ConvNet on batches of
// 256, taking turns in one run. FEDARENA_BENCHMARK_DEVICE=cuda: on a GPU.
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "fedarena/random.hpp"

#include "benchmarks/speed.hpp"
#include "harness/gradients/cuda/lane.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/zoo.hpp"
#include "harness/runner/plan/device.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kTurns = 10;
constexpr std::int64_t kBatch = 256;
constexpr double kClipNorm = 1;

torch::TensorOptions options() {
  const char* device = std::getenv("FEDARENA_BENCHMARK_DEVICE");
  return torch::TensorOptions(torch::kFloat32).device(device_of(device == nullptr ? "cpu" : device));
}

// A model of the zoo with random examples and a gradient engine of so many workers.
struct Side {
  Side(const std::string& name, const Settings& settings, std::vector<std::int64_t> shape, int workers)
      : model(build_model(name, settings, {.shape = std::move(shape), .outputs = 10}), options()),
        pool(workers, use_one_torch_thread),
        engine(model, pool),
        batch(Batch{normal(stream, model.input_shape(kBatch)),
                    uniform(stream, {kBatch}, 0, 10).to(torch::kInt64)}
                  .to(model.options())),
        at(model.initial(stream)) {}

  void plain_turn() const {
    benchmark::DoNotOptimize(engine.mean_gradient(at, kBatch, slices_of(batch)));
    cuda::wait_for(model.options().device());
  }
  void private_turn() const {
    benchmark::DoNotOptimize(engine.clipped_gradient_sum(at, kClipNorm, kBatch, slices_of(batch)));
    cuda::wait_for(model.options().device());
  }

  Stream stream{{.seed = 1}};
  Model model;
  WorkPool pool;
  GradientEngine engine;
  Batch batch;
  Params at;
};

void turns(benchmark::State& state, const std::string& name, const Settings& settings,
           const std::vector<std::int64_t>& shape) {
  keep_freed_memory();
  const Side side(name, settings, shape, static_cast<int>(state.range(0)));
  const Turns turns =
      take_turns(state, timed([&] { side.plain_turn(); }), timed([&] { side.private_turn(); }));
  const std::vector<double>&plain = turns.first.wall, &clipped = turns.second.wall;
  state.counters["ratio"] = median(ratios(plain, clipped));
  state.counters["ratio_best"] = smallest(plain) / smallest(clipped);
  state.counters["ratio_cpu"] = median(ratios(turns.first.cpu, turns.second.cpu));
  state.counters["private_s"] = kBatch / median(clipped);
  state.counters["private_s_best"] = kBatch / smallest(clipped);
  state.counters["plain_s"] = kBatch / median(plain);
  state.counters["plain_s_best"] = kBatch / smallest(plain);
}

BENCHMARK_CAPTURE(turns, convnet, "convnet", Settings{}, {3, 32, 32})
    ->ArgName("workers")
    ->Arg(1)
    ->Arg(2)
    ->Apply(timed_by_hand<kTurns>);
BENCHMARK_CAPTURE(turns, convnet_layer_norm, "convnet", Settings{{"norm", std::string("layer")}}, {3, 32, 32})
    ->ArgName("workers")
    ->Arg(2)
    ->Apply(timed_by_hand<kTurns>);
BENCHMARK_CAPTURE(turns, mlp, "mlp", Settings{}, {1, 28, 28})
    ->ArgName("workers")
    ->Arg(2)
    ->Apply(timed_by_hand<10 * kTurns>);

// Many clients' private steps side by side, each of its own batch, by as many workers as there are cores,
// against one after the other by one worker.
void clients(benchmark::State& state) {
  keep_freed_memory();
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::int64_t batch = state.range(1);
  const Side side("convnet", {}, {3, 32, 32}, WorkPool::available_cores());
  const torch::Device device = side.model.options().device();
  const auto round = [&](const WorkPool& pool) {
    pool.for_each(count, [&](std::size_t) {
      cuda::in_a_lane(device, [&] {
        benchmark::DoNotOptimize(
            side.engine.clipped_gradient_sum(side.at, kClipNorm, batch, slices_of(side.batch)));
      });
    });
  };
  const WorkPool one(1, use_one_torch_thread);
  const auto alone = [&] {
    const WorkPool::Alone no_inner_loops;
    round(one);
  };
  const Turns turns = take_turns(state, timed(alone), timed([&] { round(side.pool); }));
  state.counters["ratio"] = median(ratios(turns.first.wall, turns.second.wall));
  state.counters["examples_s"] =
      static_cast<double>(batch) * static_cast<double>(count) / median(turns.second.wall);
}
BENCHMARK(clients)
    ->ArgNames({"clients", "batch"})
    ->Args({5, kBatch})
    ->Args({100, 32})
    ->Apply(timed_by_hand<3>);

// What attacks on membership ask, against what they resemble: losses of single examples against an
// evaluation, gradient norms against clipped gradients.
void attack_turns(benchmark::State& state) {
  keep_freed_memory();
  const Side side("convnet", {}, {3, 32, 32}, WorkPool::available_cores());
  std::vector<double> losses, norms;
  for (auto _ : state) {
    const double evaluation = seconds_of(
        [&] { benchmark::DoNotOptimize(side.engine.evaluate(side.at, kBatch, slices_of(side.batch))); });
    const double of_losses = seconds_of(
        [&] { benchmark::DoNotOptimize(side.engine.losses(side.at, kBatch, slices_of(side.batch))); });
    const double clipped = seconds_of([&] { side.private_turn(); });
    const double of_norms = seconds_of([&] {
      benchmark::DoNotOptimize(side.engine.gradient_norms(side.at, kBatch, slices_of(side.batch)));
    });
    losses.push_back(evaluation / of_losses);
    norms.push_back(clipped / of_norms);
    state.SetIterationTime(of_losses + of_norms);
  }
  state.counters["losses_per_evaluation"] = median(losses);
  state.counters["norms_per_clipped_gradient"] = median(norms);
}
BENCHMARK(attack_turns)->Apply(timed_by_hand<kTurns>);

// Largest resident memory of a process that takes only one kind of turn. The first run in a process counts:
// it never shrinks.
void peak(benchmark::State& state, bool clip) {
  keep_freed_memory();
  const Side side("convnet", {}, {3, 32, 32}, WorkPool::available_cores());
  for (auto _ : state) clip ? side.private_turn() : side.plain_turn();
  state.counters["peak_kib"] = static_cast<double>(peak_resident_kib());
}
BENCHMARK_CAPTURE(peak, plain, false)->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(peak, clipped, true)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
