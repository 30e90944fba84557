// How settings were chosen, at what cost, and who had more trials than others.
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/table/notes.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// Trials, search, seed and criterion: what algorithms of one line share.
using Search = std::tuple<std::int64_t, std::string, std::int64_t, std::string>;

std::string how(const Search& search) {
  const auto& [trials, kind, seed, criterion] = search;
  return fmt::format("by {} ({}, seed {}), the best by {}", counted(trials, "trial"), kind, seed, criterion);
}

// Rows by their number of trials, the most first; 0: none.
using ByTrials = std::map<std::int64_t, std::set<std::string, NaturalOrder>, std::greater<>>;

std::string unequal(const ByTrials& by_trials) {
  return "tuned unequally: " + joined(by_trials, "; ", [](const auto& tuned) {
           return fmt::format("{} {}", fmt::join(tuned.second, ", "),
                              tuned.first == 0 ? "not at all" : "by " + counted(tuned.first, "trial"));
         });
}

}  // namespace

// Rows are told once, however many seeds they have.
std::vector<std::string> tuning_notes(std::span<const RowRuns> rows) {
  std::map<Search, std::set<std::string, NaturalOrder>> searches;
  ByTrials by_trials;
  bool is_private = false;
  for_each_run(rows, [&](const RowRuns& row, const Summary& summary) {
    by_trials[summary.tuning ? summary.tuning->trials : 0].insert(row.name);
    if (!summary.tuning) return;
    const Tuning& tuning = *summary.tuning;
    searches[{tuning.trials, tuning.search, tuning.seed, tuning.criterion}].insert(
        fmt::format("{} {}", row.name,
                    outcome_text(tuning, summary.label, !is_secret(DrawnSizes::kBatches, summary.privacy))));
    is_private = is_private || summary.privacy.has_value();
  });
  if (searches.empty()) return {};
  std::vector<std::string> notes;
  const bool alike = searches.size() == 1 && by_trials.size() == 1;
  for (const auto& [search, entries] : searches) {
    notes.push_back(fmt::format("{} {}: {}", alike ? "tuned: each algorithm" : "tuned", how(search),
                                fmt::join(entries, "; ")));
  }
  if (by_trials.size() > 1) notes.push_back(unequal(by_trials));
  if (is_private) notes.emplace_back(kTrialsNotCovered);
  return notes;
}

std::string trials_text(const std::optional<Tuning>& tuning) {
  return tuning ? counted(tuning->trials, "trial") : "none";
}

std::string search_text(const std::optional<Tuning>& tuning) {
  if (!tuning) return "none";
  return fmt::format("{} ({}, seed {}): {}", trials_text(tuning), tuning->search, tuning->seed,
                     sweep_text(tuning->chosen));
}

std::string chosen_text(const Tuning& tuning, const std::string& label) {
  std::string text;
  for (const Sweep& part : {shared_sweep(tuning.chosen), own_sweep(tuning.chosen, label)}) {
    for (const auto& [key, value] : part)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

std::string outcome_text(const Tuning& tuning, const std::string& label, bool with_costs) {
  const std::string score = !tuning.score ? "every trial diverged; this is the first one"
                            : tuning.criterion == kByValidationAccuracy ? percent(*tuning.score) + " %"
                                                                        : measured(*tuning.score);
  const std::string costs = with_costs ? fmt::format("{} s and {} examples, ", human_seconds(tuning.seconds),
                                                     human_count(static_cast<double>(tuning.examples)))
                                       : "";
  return fmt::format("{}{} ({})", costs, chosen_text(tuning, label), score);
}

}  // namespace fedarena::results
