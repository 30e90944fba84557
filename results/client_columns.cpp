#include "results/client_columns.hpp"

#include <vector>

namespace fedarena::results {

ClientColumns client_columns(std::span<const SeedClients> seeds) {
  const auto over_seeds = [&](const auto& value_of) {
    std::vector<double> values;
    for (const SeedClients& seed : seeds) values.push_back(value_of(seed));
    return spread_of(values);
  };
  return {.accuracy = over_seeds([](const SeedClients& seed) { return seed.last.accuracy_mean; }),
          .worst = over_seeds([](const SeedClients& seed) { return seed.last.accuracy_worst; }),
          .best_accuracy = over_seeds([](const SeedClients& seed) { return seed.best.accuracy_mean; }),
          .best_macro_f1 = over_seeds([](const SeedClients& seed) { return seed.best.macro_f1_mean; })};
}

}  // namespace fedarena::results
