#include "results/table/tuning_notes.hpp"

#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/text/natural_order.hpp"
#include "results/table/tuning_text.hpp"

namespace fedarena::results {
namespace {

using Names = std::set<std::string, NaturalOrder>;

// Trials, search, seed and criterion: what algorithms of one line share.
using Search = std::tuple<std::int64_t, std::string, std::int64_t, std::string>;

std::string how(const Search& search) {
  const auto& [trials, kind, seed, criterion] = search;
  return fmt::format("by {} {} ({}, seed {}), the best by {}", trials, trials == 1 ? "trial" : "trials", kind,
                     seed, criterion);
}

// Rows by their number of trials, the most first; 0: none.
using ByTrials = std::map<std::int64_t, Names, std::greater<>>;

std::string unequal(const ByTrials& by_trials) {
  std::vector<std::string> parts;
  for (const auto& [trials, names] : by_trials) {
    const std::string number =
        trials == 0 ? "not at all" : fmt::format("by {} {}", trials, trials == 1 ? "trial" : "trials");
    parts.push_back(fmt::format("{} {}", fmt::join(names, ", "), number));
  }
  return fmt::format("tuned unequally: {}", fmt::join(parts, "; "));
}

}  // namespace

std::vector<std::string> tuning_notes(std::span<const FoundRun> runs,
                                      const std::function<std::string(const FoundRun&)>& name) {
  std::map<Search, Names> searches;
  ByTrials by_trials;
  bool is_private = false;
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished) continue;
    const Summary& summary = *run.summary;
    const std::string row = name(run);
    by_trials[summary.tuning ? summary.tuning->trials : 0].insert(row);
    if (!summary.tuning) continue;
    const Tuning& tuning = *summary.tuning;
    searches[{tuning.trials, tuning.search, tuning.seed, tuning.criterion}].insert(
        fmt::format("{} {}", row, outcome_text(tuning, summary.label)));
    is_private = is_private || summary.privacy.has_value();
  }
  if (searches.empty()) return {};
  std::vector<std::string> notes;
  const bool alike = searches.size() == 1 && by_trials.size() == 1;
  for (const auto& [search, entries] : searches) {
    notes.push_back(fmt::format("{} {}: {}", alike ? "tuned: each algorithm" : "tuned", how(search),
                                fmt::join(entries, "; ")));
  }
  if (by_trials.size() > 1) notes.push_back(unequal(by_trials));
  if (is_private) {
    notes.emplace_back(kTrialsNotCovered);
  }
  return notes;
}

}  // namespace fedarena::results
