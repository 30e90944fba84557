#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/config/grid/tuning.hpp"
#include "harness/loader/plugin_host.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/run_experiment.hpp"
#include "results/record/sweep.hpp"

namespace fedarena {

/// An experiment with the settings that its trials chose.
struct TunedExperiment {
  GridPoint point;
  std::map<std::string, results::Tuning> tunings;  ///< by label

  /// Its cells, each with what chose its settings; `only` as of `plan_cells`. This must outlive them.
  std::vector<PlannedCell> cells(const std::vector<std::string>& only = {}) const;
};

/// The options that trials run under: those of the experiment, in the folder OUT-tuning beside OUT.
RunOptions trial_options(RunOptions options);

/// The experiment with the settings that finished trials chose. Throws Error where one is not finished, or is
/// of another experiment.
TunedExperiment tuned_by_trials(const GridPoint& point, const TuningPlan& plan, const RunOptions& options);

/// Looks at the folders of the tuned cells as `check_folders` does, as far as they are known: not after hours
/// of trials.
void check_untuned(const GridPoint& point, const TuningPlan& plan, const RunOptions& options);

/// Runs the trials, tells `options.messages` what they took and chose, and returns the experiment with those
/// settings; nothing when `stop` was set. Throws Error as `run_cells` does, also where the experiment's own
/// folders (`options.out`) hold runs already, without resume.
std::optional<TunedExperiment> tune(const GridPoint& point, const TuningPlan& plan, const PluginHost& host,
                                    const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace fedarena
