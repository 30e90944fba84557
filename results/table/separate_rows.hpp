#pragma once

#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// Makes rows of their own of runs that would be one row but for settings, such as those of two folders with
/// two learning rates or two noise multipliers: each gets the settings that differ as if a grid had given
/// them, in `Summary::sweep`, and so do the other runs of that label. Settings are the parameters of the
/// algorithm and `row_conditions`. Runs that differ in nothing else than the seed stay as they are.
void separate_by_settings(std::vector<FoundRun>& runs);

}  // namespace fedarena::results
