#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// Data sets of the finished runs by what a note calls them: "csv" instead of "csv (path = ...)" where no
/// other data set of these runs has the same name with other settings.
std::map<std::string, std::string> brief_datasets(std::span<const FoundRun> runs);

/// What a reader must know about the data of the finished runs: a line for each data set that has a note. The
/// order of `runs` does not matter.
std::vector<std::string> dataset_notes(std::span<const FoundRun> runs);

}  // namespace fedarena::results
