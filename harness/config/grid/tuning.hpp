#pragma once

#include <optional>

#include "harness/config/grid/grid.hpp"
#include "harness/config/sections/reader.hpp"

namespace fedarena::config {

/// The trials of a file's [tuning]; nothing when it has none. Throws Error, as `read_plan` says.
std::optional<TuningPlan> tuning_of(const FileVariant& variant);

}  // namespace fedarena::config
