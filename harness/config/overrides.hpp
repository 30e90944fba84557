#pragma once

#include <string>
#include <vector>

#include "harness/config/document.hpp"
#include "harness/config/sections.hpp"

namespace fedarena::config {

/// Puts "section.key=value" into the document, over what is there. Throws Error where the path names no
/// section and no algorithm; keys and values are checked later, as those of the file are.
void apply_override(Document& document, const std::string& text, const std::vector<SectionSpec>& specs);

}  // namespace fedarena::config
