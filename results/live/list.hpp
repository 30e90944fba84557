#pragma once

#include <span>
#include <string>

#include "results/live/live_runs.hpp"

namespace fedarena::results {

/// One aligned line a cell, in the given order: path, experiment, algorithm, seed, state, rounds and, when
/// finished, accuracy (RMSE on regression data). "(control)" stands behind the algorithm of one that ran
/// without noise (`is_control`). A broken one shows its path and its problem.
std::string render_list(std::span<const LiveCell> cells);

}  // namespace fedarena::results
