#pragma once

#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// What a cell's summary says before its first round.
results::Summary planned_summary(const PlannedCell& cell, const PartitionedData& dealt, SharedInputs& inputs);

}  // namespace fedarena
