#include "results/table/divergence_notes.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/text/natural_order.hpp"

namespace fedarena::results {

std::vector<std::string> divergence_notes(std::span<const FoundRun> runs,
                                          const std::function<std::string(const FoundRun&)>& name) {
  std::map<std::string, std::set<std::int64_t>, NaturalOrder> diverged;
  for (const FoundRun& run : runs) {
    if (!run.summary || !run.summary->final_test_loss || std::isfinite(*run.summary->final_test_loss))
      continue;
    diverged[name(run)].insert(run.summary->seed);
  }
  if (diverged.empty()) return {};
  std::vector<std::string> rows;
  for (const auto& [row, seeds] : diverged) {
    rows.push_back(
        fmt::format("{}, {} {}", row, seeds.size() == 1 ? "seed" : "seeds", fmt::join(seeds, ", ")));
  }
  return {fmt::format("diverged (nan or infinite loss after the last round): {}", fmt::join(rows, "; "))};
}

}  // namespace fedarena::results
