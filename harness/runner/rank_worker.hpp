#pragma once

#include <atomic>
#include <string>

#include "harness/loader/plugin_host.hpp"
#include "harness/ranks/crew.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"

namespace fedarena {

/// What another rank needs to make a cell ready: its experiment, and what its device, arithmetic, data and
/// partition must be.
std::string describe_for_ranks(const PlannedCell& cell, SharedInputs& inputs);

/// What fedarena does on every rank but the first: works in the cells that rank 0 runs, and writes nothing.
/// Returns when rank 0 has no more. `stop` ends what is computed, which rank 0 is told; it alone ends the
/// run. Throws Interrupted where rank 0 says nothing any more.
void work_for_rank_0(Ranks& ranks, const PluginHost& host, int workers, const std::atomic<bool>& stop);

}  // namespace fedarena
