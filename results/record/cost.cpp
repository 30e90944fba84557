#include "results/record/cost.hpp"

#include "results/record/record.hpp"

namespace fedarena::results {

std::optional<Cost> total_cost(std::span<const RoundRecord> rounds) {
  Cost total;
  for (const RoundRecord& round : rounds) {
    if (!round.cost) return std::nullopt;
    total.gradients += round.cost->gradients;
    total.operations += round.cost->operations;
    total.at_least = total.at_least || round.cost->at_least;
  }
  return total;
}

}  // namespace fedarena::results
