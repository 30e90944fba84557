#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/config/syntax/document.hpp"
#include "harness/config/sections/sections.hpp"

namespace fedarena::config {

/// Where an override was written, and how overrides are written there.
struct OverrideSource {
  Place place;
  std::string form;  ///< for messages: "section.key=value"
  /// The section of lists that gives the value, kSweep or kTuning: then nothing else may.
  std::string_view lists = {};
};

/// The label of an algorithm as the file gives it, before any check; "" where there is none.
std::string label_of(const Table& table);

/// Puts the value at the path "section.key" or "algorithms.LABEL.key" into the document, over what is there.
/// Throws Error as `apply_override` does.
void put_override(Document& document, std::string_view path, const OverrideSource& source, Written written,
                  const std::vector<SectionSpec>& specs);

/// Puts "section.key=value" into the document, over what is there. Throws Error where the path names no
/// section and no algorithm; keys and values are checked later, as those of the file are.
void apply_override(Document& document, const std::string& text, const std::vector<SectionSpec>& specs);

}  // namespace fedarena::config
