#include "harness/runner/plan/tune.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/chosen_trials.hpp"
#include "results/table/notes.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

bool is_private(const AlgorithmEntry& entry) { return entry.privacy.name != "none"; }

}  // namespace

std::vector<PlannedCell> TunedExperiment::cells() const {
  std::vector<PlannedCell> cells = plan_cells({&point, 1});
  for (PlannedCell& cell : cells) cell.tuning = tunings.at(cell.algorithm->label);
  return cells;
}

RunOptions trial_options(RunOptions options) {
  // A path that ends in a slash has no last name.
  const fs::path out = options.out.has_filename() ? options.out : options.out.parent_path();
  options.out = out;
  options.out += "-tuning";
  return options;
}

std::optional<TunedExperiment> tune(const GridPoint& point, const TuningPlan& plan, const PluginHost& host,
                                    const RunOptions& options, const std::atomic<bool>& stop) {
  // Not after hours of trials. With resume, only the trials tell what should be there.
  if (!options.resume) check_folders(plan_cells({&point, 1}), options.out, false);
  const RunOptions trials = trial_options(options);
  fmt::print(options.messages, "Tuning: {} trials of each algorithm ({}, seed {}), in {}\n", plan.trials,
             plan.search, plan.seed, trials.out.string());
  if (!run_cells(plan_cells(plan.points), host, trials, stop)) return std::nullopt;

  const auto chosen = choose_trials(plan, trials.out);
  TunedExperiment tuned{point, {}};
  for (AlgorithmEntry& entry : tuned.point.experiment.algorithms) {
    const ChosenTrial& choice = chosen.at(entry.label);
    fmt::print(options.messages, "{}: {}: {}, by {}\n", entry.label, results::trials_text(choice.tuning),
               results::outcome_text(choice.tuning, entry.label), choice.tuning.criterion);
    entry = choice.entry;
    tuned.tunings.emplace(entry.label, choice.tuning);
  }
  const std::vector<AlgorithmEntry>& algorithms = tuned.point.experiment.algorithms;
  if (std::any_of(algorithms.begin(), algorithms.end(), is_private))
    fmt::print(options.messages, "note: {}\n", results::kTrialsNotCovered);
  return tuned;
}

}  // namespace fedarena
