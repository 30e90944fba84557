#pragma once

#include <filesystem>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// The rounds of the run directory `folder`, whose summary was just read: all of them for a finished run, so
/// many as there are for another. A broken record, and one that does not go with the summary, is an Error.
/// Changes nothing on disk; the run may be at work.
std::vector<RoundRecord> recorded_rounds(const std::filesystem::path& folder, const Summary& summary);

}  // namespace fedarena::results
