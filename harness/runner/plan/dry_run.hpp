#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/loader/plugin_host.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/run_experiment.hpp"

namespace fedarena {

/// What a run would do.
struct RunDescription {
  /// A line for each cell with its clients, samples, epsilon, bytes of a message, time and state, the sums,
  /// and which of the numbers are exact.
  std::string text;
  /// Why cells cannot begin, which the run would leave out: of the first; none: all can.
  std::optional<Complaint> refusal = {};
};

/// Trains nothing but micro-batches of each model, to take their time, and writes nothing. Throws the Errors
/// that the run would begin with; folders are looked at as with `resume`; and Interrupted once `stop` is set.
RunDescription describe_run(const std::vector<PlannedCell>& cells, const PluginHost& host,
                            const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace fedarena
