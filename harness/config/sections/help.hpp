#pragma once

#include <string>
#include <vector>

#include "harness/config/sections/experiment.hpp"

namespace fedarena {

/// The reference of the experiment file: every section, key and choice with type, default, range and
/// sentence.
std::string experiment_help(const Catalog& catalog);

/// The settings as an aligned table: name, type, default, allowed range, sentence; one a line.
std::string fields_help(const std::vector<Field>& fields);

}  // namespace fedarena
