#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results/statistics/roc.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {

/// The JSON text of `roc.json`, one line a class. What could not be read back is a Bug.
std::string to_json_text(const TestRoc& roc);

/// Reads such a text. Anything but whole, valid characteristics is an Error that names `file` and the field.
TestRoc parse_roc(std::string_view text, const std::string& file);

/// That of a run; none of regression data, of a run that is not finished, and in older records.
std::optional<TestRoc> read_roc(const RunDirectory& run);

/// Replaces it, all or nothing.
void write_roc(const RunDirectory& run, const TestRoc& roc);

}  // namespace fedarena::results
