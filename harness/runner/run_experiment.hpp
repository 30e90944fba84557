#pragma once

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "harness/config/experiment.hpp"
#include "harness/loader/plugin_host.hpp"

namespace fedarena {

struct RunOptions {
  std::filesystem::path out;  ///< folder that gets one run directory a cell (algorithm x seed)
  int workers = 1;            ///< changes how long a run takes, never its result
  bool resume = false;        ///< continue what is there: finished cells are kept, others go on
  std::FILE* messages = stderr;
};

/// Runs every cell of the experiment, seed by seed, and records each in a run directory. Returns false when
/// `stop` was set: the cell in progress is then left at its last complete round, to be resumed. Throws Error
/// when the folder holds runs already (without resume), or runs of another experiment (with it).
bool run_experiment(const Experiment& experiment, const PluginHost& host, const RunOptions& options,
                    const std::atomic<bool>& stop);

}  // namespace fedarena
