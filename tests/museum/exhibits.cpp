#include "tests/museum/exhibits.hpp"
#include "tests/paths.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "fedarena/accounting/calibration.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"

namespace fedarena {

Exhibit::Training sgd(std::int64_t steps, std::int64_t batch_size, double rate) {
  return [=](Client& client, const Params& start) {
    Params local = start;
    for (std::int64_t step = 0; step < steps; ++step) {
      local.add_scaled(-rate, client.oracle.gradient(local, {.batch_size = batch_size}));
    }
    return local;
  };
}

Federation::Federation(const std::vector<std::int64_t>& shard_sizes) {
  use_one_torch_thread();
  Stream stream({.seed = 1});
  const auto draw = [&](std::int64_t count) {
    const torch::Tensor inputs = normal(stream, {count, 3});
    return Examples{inputs, inputs.select(1, 0).gt(0).to(torch::kInt64)};
  };
  dataset.train = draw(std::accumulate(shard_sizes.begin(), shard_sizes.end(), std::int64_t{0}));
  dataset.test = draw(20);
  dataset.classes = 2;
  std::int64_t next = 0;
  for (const std::int64_t size : shard_sizes) {
    std::vector<std::int64_t>& shard = partition.emplace_back(static_cast<std::size_t>(size));
    std::iota(shard.begin(), shard.end(), next);
    next += size;
  }
}

SimulationSetup Federation::setup(const Algorithm& algorithm, const PrivacyPolicy& policy,
                                  std::int64_t rounds) const {
  return {.dataset = dataset,
          .partition = partition,
          .model = model,
          .algorithm = algorithm,
          .pool = pool,
          .stop = stop,
          .seed = 6,
          .rounds = rounds,
          .cohort_size = static_cast<std::int64_t>(partition.size()),
          .evaluate_every = rounds,
          .policy = policy};
}

const PluginHost& plugins() {
  static const auto* const kHost = [] {
    auto* loaded = new PluginHost();
    loaded->load_folder(test::build_folder() / "plugins");
    return loaded;
  }();
  return *kHost;
}

double finish(Simulation& simulation) {
  std::optional<double> epsilon;
  while (!simulation.finished()) epsilon = simulation.next_round().epsilon;
  return epsilon.value();
}

double poisson_epsilon(double noise_multiplier, double rate, std::int64_t steps, double delta) {
  return epsilon_by_rdp(rdp_orders("default"))(
      {.noise_multiplier = noise_multiplier, .rate = rate, .steps = steps, .delta = delta});
}

}  // namespace fedarena
