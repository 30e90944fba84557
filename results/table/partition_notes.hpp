#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// The partition's id with "..." for the run's seed, which it ends with; empty in older records.
std::string partition_without_seed(const Summary& summary);

/// Which partitions the finished runs rest on: a line for each data set and id, with the index hash of every
/// seed, such as "partition of digits: iid(clients=4,seed=...): seed 1 index hash 71210e180ad342a1". Says
/// where runs of one seed disagree. Runs of before partitions had ids are left out. The order of `runs` does
/// not matter.
std::vector<std::string> partition_notes(std::span<const FoundRun> runs);

}  // namespace fedarena::results
