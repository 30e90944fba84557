#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/record/run_directory.hpp"
#include "results/statistics/roc.hpp"

namespace fedarena::results {

/// Receiver operating characteristics by name, as `roc.json` of a run directory holds them.
struct NamedRoc {
  std::string name;  ///< not empty, and another for each curve
  RocCurve curve;
  bool operator==(const NamedRoc&) const = default;
};

/// The JSON text, one line a curve. What could not be read back is a Bug.
std::string to_json_text(const std::vector<NamedRoc>& curves);

/// Reads such a text, of at least one curve. Anything but whole, valid curves is an Error that names `file`
/// and the field.
std::vector<NamedRoc> parse_roc(std::string_view text, const std::string& file);

/// Those of a run; none where nothing wrote the file.
std::vector<NamedRoc> read_roc(const RunDirectory& run);

/// Replaces them, all or nothing.
void write_roc(const RunDirectory& run, const std::vector<NamedRoc>& curves);

}  // namespace fedarena::results
