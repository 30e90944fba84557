#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fedarena::results {

/// The files of a run directory that make up its record, as paths below it, sorted: experiment, environment,
/// rounds, ledger, scores, summary, synthetic sets. Without what only helps to resume, and without files that
/// are none of fedarena's.
std::vector<std::string> record_files(const std::filesystem::path& run);

}  // namespace fedarena::results
