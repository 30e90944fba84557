#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "harness/loader/plugin_host.hpp"
#include "harness/ranks/ranks.hpp"
#include "harness/runner/plan/planned_cell.hpp"

namespace fedarena {

/// The default; small, because a checkpoint holds as much again.
inline constexpr std::int64_t kStateMemory = std::int64_t{256} << 20;

struct RunOptions {
  std::filesystem::path out = {};  ///< folder that gets the run directories, one a cell
  int workers = 1;                 ///< changes how long a run takes, never its result
  int jobs = 1;                    ///< cells that run at once, on the same workers; changes no result either
  std::int64_t memory = 0;         ///< bytes for data and the cells that run at once; 0: most of what is free
  /// Bytes of what a cell's clients remember that stay in memory; more lie in its run directory.
  std::int64_t state_memory = kStateMemory;
  bool resume = false;  ///< continue what is there: finished cells are kept, others go on
  /// Whether messages tell of the data and how they are dealt. What a policy of the file hides is left out; a
  /// run's own file does not tell the policies of others beside it.
  bool describes_data = true;
  std::FILE* messages = stderr;
  Ranks* ranks = nullptr;  ///< of which this is rank 0; the others work for it, and no result changes
};

/// Runs the cells, each recorded in a run directory of its own; data sets, models and workers are shared.
/// Returns false when `stop` was set: the cells at work are then left at their last complete round, to be
/// resumed. Throws Error when a folder holds a run already (without resume), or runs of another experiment
/// (with it), before anything runs. A cell whose algorithm fails is recorded as failed and the others run;
/// then its Error is thrown, with the names of others that failed.
bool run_cells(const std::vector<PlannedCell>& cells, const PluginHost& host, const RunOptions& options,
               const std::atomic<bool>& stop);

}  // namespace fedarena
