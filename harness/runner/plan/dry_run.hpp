#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "harness/loader/plugin_host.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/run_experiment.hpp"

namespace fedarena {

/// What a run of the cells would do, as text: a line for each with its clients, samples, bytes of a message,
/// time and state, the sums, and which of the numbers are exact. Trains nothing but micro-batches of each
/// model, to take their time, and writes nothing. Throws the Errors that the run would begin with; folders
/// are looked at as with `resume`; and Interrupted once `stop` is set.
std::string describe_run(const std::vector<PlannedCell>& cells, const PluginHost& host,
                         const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace fedarena
