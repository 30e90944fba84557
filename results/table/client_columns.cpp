#include "results/table/client_columns.hpp"

#include <vector>

namespace fedarena::results {
namespace {

template <typename Seeds, typename Value>
Spread spread_over(const Seeds& seeds, const Value& value_of) {
  std::vector<double> values;
  for (const auto& seed : seeds) values.push_back(value_of(seed));
  return spread_of(values);
}

}  // namespace

ClientColumns client_columns(std::span<const SeedClients> seeds) {
  using Seed = const SeedClients&;
  return {.accuracy = spread_over(seeds, [](Seed seed) { return seed.last.accuracy_mean; }),
          .worst = spread_over(seeds, [](Seed seed) { return seed.last.accuracy_worst; }),
          .best_accuracy = spread_over(seeds, [](Seed seed) { return seed.best.accuracy_mean; }),
          .best_macro_f1 = spread_over(seeds, [](Seed seed) { return seed.best.macro_f1_mean; })};
}

ClientColumns client_columns(std::span<const ClientErrors> seeds) {
  ClientColumns columns;
  columns.rmse = spread_over(seeds, [](const ClientErrors& seed) { return seed.rmse_mean; });
  columns.worst_rmse = spread_over(seeds, [](const ClientErrors& seed) { return seed.rmse_worst; });
  return columns;
}

}  // namespace fedarena::results
