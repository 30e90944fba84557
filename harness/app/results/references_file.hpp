#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "results/table/published.hpp"

namespace fedarena {

/// Reads a TOML file of published figures: one or more [published] (or [[published]]) with `source`, `metric`
/// (default "accuracy"), `selection`, `n`, keys that all of its figures share, and `figures`, a list of
/// tables of keys with `mean`, `std` and `n` (docs/tables.md). Throws Error, with file:line:column, for
/// anything else.
results::References read_references(const std::filesystem::path& file);

/// The same for a text; `file_name` is what messages call it.
results::References parse_references(std::string_view text, const std::string& file_name);

}  // namespace fedarena
