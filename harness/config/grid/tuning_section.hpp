#pragma once

#include <vector>

#include "harness/config/grid/points.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// What stands in [tuning].
struct TuningSection {
  Place place;
  Place trials_place;  ///< of the number of trials, of the section where it is not given
  TuningKeys keys = {};
  std::vector<Dimension> dimensions = {};  ///< what is tuned, at least one
  std::vector<bool> drawn = {};            ///< of which of them a value is drawn for each trial, from a range

  bool random() const { return keys.search == "random"; }
};

/// Reads the section; there must be one. Throws Error for what is not a key, list or range, and for settings
/// that are not an algorithm's own.
TuningSection read_tuning_section(const Document& document, const std::vector<SectionSpec>& specs);

}  // namespace fedarena::config
