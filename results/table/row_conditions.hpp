#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace fedarena::results {

/// What the experiment file of a run says that its summary does not, and that runs of one row must share: the
/// cohort, the rules that end a run, the type of the weights, and the whole policy of privacy, by
/// "section.key". Empty where the file cannot be read, which `verify` reports.
std::map<std::string, std::string> row_conditions(const std::filesystem::path& run);

}  // namespace fedarena::results
