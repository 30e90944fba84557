#pragma once

#include <map>
#include <string>
#include <string_view>

namespace fedarena::results {

/// The settings of an `experiment.toml` in a run directory by "section.key", texts without quotes; those
/// below
/// [[algorithms]] as "algorithms.key". Reads what the program wrote, one setting a line, not TOML in general.
std::map<std::string, std::string> resolved_settings(std::string_view toml);

}  // namespace fedarena::results
