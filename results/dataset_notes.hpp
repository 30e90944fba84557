#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/find_runs.hpp"

namespace fedarena::results {

/// What a reader must know about the data of the finished runs: a line for each data set that has a note. The
/// order of `runs` does not matter.
std::vector<std::string> dataset_notes(std::span<const FoundRun> runs);

}  // namespace fedarena::results
