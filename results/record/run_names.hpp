#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// A name for each run: its path below the folder that holds all of `folders`, at and below which the runs
/// were found, such as "quickstart/fedavg-seed-1". Names are distinct, and stay when runs are added.
std::vector<std::string> run_names(std::span<const FoundRun> runs,
                                   std::span<const std::filesystem::path> folders);

}  // namespace fedarena::results
