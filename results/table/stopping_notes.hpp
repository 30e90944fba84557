#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// A line for each rule that ended finished runs before their last round, such as "stopped at the target of
/// validation accuracy: fedavg, seed 1 (round 12 of 50)". The order of `runs` does not matter.
std::vector<std::string> stopping_notes(std::span<const FoundRun> runs);

}  // namespace fedarena::results
