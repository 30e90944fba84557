#pragma once

#include <span>
#include <string>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// One aligned line a run, in the given order: path, experiment, algorithm, seed, state, rounds and, when
/// finished, accuracy (RMSE on regression data). "(control)" stands behind the algorithm of one that ran
/// without noise (`is_control`). A broken run shows its path and its problem.
std::string render_list(std::span<const FoundRun> runs);

}  // namespace fedarena::results
