#include "harness/config/grid/combinations.hpp"

#include <utility>

namespace fedarena::config {

std::vector<Indices> all_combinations(const Indices& counts, const Indices& dimensions) {
  std::vector<Indices> all = {Indices(counts.size(), 0)};
  for (const std::size_t dimension : dimensions) {
    std::vector<Indices> longer;
    for (const Indices& at : all) {
      for (std::size_t value = 0; value < counts[dimension]; ++value) {
        longer.push_back(at);
        longer.back()[dimension] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace fedarena::config
