#pragma once

#include <filesystem>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// The rounds of a run directory, as `RunDirectory::rounds` gives them, without reading anything else.
std::vector<RoundRecord> rounds_of(const std::filesystem::path& run);

}  // namespace fedarena::results
