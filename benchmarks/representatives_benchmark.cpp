// What FedGM spends from one clustering of a client's examples to the next: features, k-means, ten points of
// gradient matching; and its matching step against FedLAP's on as many images.
#include <benchmark/benchmark.h>

#include "fedarena/features.hpp"
#include "fedarena/k_means.hpp"
#include "fedarena/matching.hpp"
#include "fedarena/random.hpp"

#include "benchmarks/arena.hpp"
#include "benchmarks/speed.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr std::int64_t kExamples = 6000, kClusters = 128, kImages = 50;
constexpr int kPoints = 10;

void from_clustering_to_clustering(benchmark::State& state) {
  const Arena arena({.input_shape = {1, 28, 28}, .examples = 1});
  const Model& model = arena.model();
  const Compute& compute = arena.compute();
  Stream stream({.seed = 1});
  const auto images = [&](std::int64_t count) {
    return Batch{normal(stream, model.input_shape(count)).to(model.options()),
                 torch::zeros({count}, torch::kInt64)};
  };
  const Params at = model.initial(stream);
  const Batch examples = images(kExamples), set = images(kImages);
  const Model features = feature_model(model, "a benchmark");
  const std::unique_ptr<const Compute> on_features = compute.on(features);
  const auto step = [&](const GradientMatching& how, const Params& target) {
    benchmark::DoNotOptimize(compute.input_gradient(
        at, set, [&](const Params& own) { return matching_distance(own, target, how).slope; }));
  };
  for (auto _ : state) {
    torch::Tensor points;
    const Cost features_cost =
        cost_of([&] { points = on_features->outputs(feature_weights(features, at), examples.inputs); });
    Batch real;
    const Cost clustering = cost_of([&] {
      const torch::Tensor some = points.narrow(0, 0, 8 * kClusters);
      const torch::Tensor start = some.index_select(0, spread_points(some, kClusters, stream));
      real = examples.select(nearest_points(points, lloyd(points, start, 5).centres));
    });
    Cost all_points;
    std::vector<double> ratios;
    for (int point = 0; point < kPoints; ++point) {
      Params target;
      const Cost before = cost_of([&] { target = compute.gradient(at, real); });
      const Cost own = cost_of([&] { step({.criterion = "cosine"}, target); });
      const Cost after = cost_of([&] { benchmark::DoNotOptimize(compute.gradient(at, set)); });
      ratios.push_back(seconds_of([&] { step({}, target); }) / own.wall);
      all_points.wall += before.wall + own.wall + after.wall;
      all_points.cpu += before.cpu + own.cpu + after.cpu;
    }
    const double wall = features_cost.wall + clustering.wall + all_points.wall;
    state.SetIterationTime(wall);
    state.counters["features_s"] = features_cost.wall;
    state.counters["clustering_s"] = clustering.wall;
    state.counters["points_s"] = all_points.wall;
    state.counters["clustering_percent"] = 100 * clustering.wall / wall;
    state.counters["clustering_cpu_percent"] =
        100 * clustering.cpu / (features_cost.cpu + clustering.cpu + all_points.cpu);
    state.counters["matching_ratio"] = median(ratios);
  }
}
BENCHMARK(from_clustering_to_clustering)->Iterations(3)->UseManualTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
