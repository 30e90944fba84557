#pragma once

#include <filesystem>
#include <string>

#include "results/record/json_fields.hpp"

namespace fedarena::results {

/// What a run directory's `environment.json` says: an object, whose fields differ from version to version. An
/// Error when it cannot be read or is none.
Json read_environment(const std::filesystem::path& run);

/// The entry of the plugin that offers the algorithm; an empty object where an environment names none.
Json plugin_of(const Json& environment, const std::string& algorithm);

}  // namespace fedarena::results
