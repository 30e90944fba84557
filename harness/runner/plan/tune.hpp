#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "harness/config/grid/grid.hpp"
#include "harness/loader/plugin_host.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/run_experiment.hpp"

namespace fedarena {

/// The options that trials run under: those of the experiment, in the folder OUT-tuning beside OUT.
RunOptions trial_options(RunOptions options);

/// The cells with the settings that finished trials chose, and what chose them; `only` as of `plan_cells`.
/// Throws Error where a trial is not finished, or is of another experiment.
std::vector<PlannedCell> tuned_by_trials(const GridPoint& point, const TuningPlan& plan,
                                         const RunOptions& options,
                                         const std::vector<std::string>& only = {});

/// Looks at the folders of the tuned cells as `check_folders` does, as far as they are known: not after hours
/// of trials.
void check_untuned(const GridPoint& point, const TuningPlan& plan, const RunOptions& options);

/// Runs the trials, tells `options.messages` what they took and chose, and returns the cells with those
/// settings; none when `stop` was set. Throws Error as `run_cells` does, also where the experiment's own
/// folders (`options.out`) hold runs already, without resume.
std::vector<PlannedCell> tune(const GridPoint& point, const TuningPlan& plan, const PluginHost& host,
                              const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace fedarena
