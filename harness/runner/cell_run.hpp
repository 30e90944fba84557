#pragma once

#include <atomic>
#include <string>

#include "fedarena/base/error.hpp"

#include "harness/ranks/crew.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/runner/progress/progress.hpp"
#include "harness/runner/run_experiment.hpp"

namespace fedarena {

/// What the cells of a run share.
struct SharedRun {
  const CellResources& resources;
  const RunOptions& options;
  const std::atomic<bool>& ending;  ///< another cell failed: those at work end at their last complete round
  Crew* crew = nullptr;
  Progress& progress;
};

/// An algorithm failed, which need not ail the other cells; what ails a file does.
struct AlgorithmFailed {
  Complaint complaint;
};

/// Runs one cell from where its record is to its end; one that is finished only says so. Returns false where
/// it was to stop. Throws AlgorithmFailed, once the record says so; Error where a file cannot be read or
/// written.
bool run_cell(const PlannedCell& cell, const PartitionedData& dealt, const results::Json& environment,
              const SharedRun& shared);

}  // namespace fedarena
