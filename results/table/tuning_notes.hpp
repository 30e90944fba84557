#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// How the settings of finished runs were chosen, what the trials took, and what was chosen: "tuned: each
/// algorithm by 6 trials (grid, seed 0), the best by validation accuracy: fedavg 12.3 s and 48.0 k examples,
/// training.rate = 0.1 (71.23 %)". A line says who had more trials than others, or none, and one that epsilon
/// does not cover them. `name` names the row of a run; rows are told once, however many seeds they have, and
/// the order of `runs` does not matter. No lines where nothing was tuned.
std::vector<std::string> tuning_notes(std::span<const FoundRun> runs,
                                      const std::function<std::string(const FoundRun&)>& name);

}  // namespace fedarena::results
