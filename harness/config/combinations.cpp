#include "harness/config/combinations.hpp"

#include <set>
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

std::vector<Indices> some_combinations(const Indices& counts, const Indices& dimensions,
                                       const std::vector<bool>& own, std::size_t wanted,
                                       const StreamName& name) {
  Stream stream(name);
  std::vector<Indices> drawn;
  std::set<Indices> seen;
  while (drawn.size() < wanted) {
    Indices at(counts.size(), 0);
    for (const std::size_t dimension : dimensions)
      at[dimension] = own[dimension] ? drawn.size() : stream.below(counts[dimension]);
    if (seen.insert(at).second) drawn.push_back(std::move(at));
  }
  return drawn;
}

}  // namespace fedarena::config
