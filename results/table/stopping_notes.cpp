#include "results/table/stopping_notes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/text/natural_order.hpp"

namespace fedarena::results {

std::vector<std::string> stopping_notes(std::span<const FoundRun> runs) {
  std::vector<std::string> notes;
  for (const auto& [rule, text] :
       {std::pair(kStoppedByTarget, "stopped at the target of validation accuracy"),
        std::pair(kStoppedByPatience, "stopped without a better validation score")}) {
    std::vector<std::string> stopped;
    for (const FoundRun& run : runs) {
      if (!run.summary || run.summary->stopped != rule) continue;
      const Summary& summary = *run.summary;
      stopped.push_back(fmt::format("{}, seed {} (round {} of {})", summary.label, summary.seed,
                                    summary.rounds_done, summary.rounds));
    }
    std::ranges::sort(stopped, natural_less);
    if (!stopped.empty()) notes.push_back(fmt::format("{}: {}", text, fmt::join(stopped, "; ")));
  }
  return notes;
}

}  // namespace fedarena::results
