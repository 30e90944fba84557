#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/table/rows.hpp"

namespace fedarena::results {

/// Which rows take means over seeds that different builds of fedarena, or of the algorithm's plugin, ran: a
/// line for each row and program, with the SHA-256 that `environment.json` has of it. Runs that do not say
/// are left out. `names` are those of the rows.
std::vector<std::string> build_notes(std::span<const RowRuns> rows, std::span<const std::string> names);

}  // namespace fedarena::results
