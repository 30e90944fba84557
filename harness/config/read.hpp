#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/catalog.hpp"
#include "harness/config/experiment.hpp"

namespace fedarena {

/// Reads an experiment file, under the profile when one is given: its entries go over what the file says, and
/// "-NAME" is appended to the experiment's name. The file must be valid under each of its profiles. Each
/// override is "section.key=value" (or "algorithms.LABEL.key=value") with a value as TOML writes it, a bare
/// word counting as a string; they replace what the file says, the last one wins, and they go over the
/// profile's. Throws Error, with the place of the first mistake: file:line:column, or the override.
Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                           const Catalog& catalog, const std::optional<std::string>& profile = {});

/// The same for a text; `file_name` is what messages call it.
Experiment parse_experiment(std::string_view text, const std::string& file_name,
                            const std::vector<std::string>& overrides, const Catalog& catalog,
                            const std::optional<std::string>& profile = {});

}  // namespace fedarena
