#pragma once

#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/config/sections/sections.hpp"

namespace fedarena::config {

/// Complains about a key of `section` that nobody declared; `known` are the keys that it could have had.
[[noreturn]] void complain_unknown_key(const std::string& key, const Place& place, const SectionSpec& section,
                                       const std::vector<std::string>& known,
                                       const std::vector<SectionSpec>& specs);

/// Complains about a section that nobody declared.
[[noreturn]] void complain_unknown_section(const std::string& name, const Place& place,
                                           const std::vector<SectionSpec>& specs);

/// Complains about a key that stands in no section.
[[noreturn]] void complain_homeless_key(const std::string& key, const Place& place,
                                        const std::vector<SectionSpec>& specs);

}  // namespace fedarena::config
