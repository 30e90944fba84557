#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/catalog.hpp"
#include "harness/config/experiment.hpp"

namespace fedarena {

/// Reads an experiment file. Each override is "section.key=value" (or "algorithms.LABEL.key=value") with a
/// value as TOML writes it, a bare word counting as a string; they replace what the file says, the last one
/// wins. Throws Error, with the place of the first mistake: file:line:column, or the override.
Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                           const Catalog& catalog);

/// The same for a text; `file_name` is what messages call it.
Experiment parse_experiment(std::string_view text, const std::string& file_name,
                            const std::vector<std::string>& overrides, const Catalog& catalog);

}  // namespace fedarena
