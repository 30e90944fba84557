#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/config/sections/experiment.hpp"

namespace fedarena {

/// The reference of the experiment file: every section, key and choice with type, default, range and
/// sentence.
std::string experiment_help(const Catalog& catalog);

/// The part of it on one section, or, unless `entry` is empty, on that choice of the section. Throws Error
/// with the nearest name when there is none such.
std::string section_help(const Catalog& catalog, const std::string& section, const std::string& entry = {});

/// The settings as an aligned table: name, type, default ("required" for those that must be given), allowed
/// range, sentence; one a line.
std::string fields_help(const std::vector<Field>& fields, const std::vector<std::string>& required = {},
                        std::size_t indent = 0);

}  // namespace fedarena
