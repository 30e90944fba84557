#pragma once

#include <filesystem>

#include "results/record/record.hpp"

namespace fedarena::results {

/// Whether a run is the control of an audit, which adds no noise: as its summary says once it is finished,
/// before that as the experiment file in its directory does. Throws Error where that cannot be read.
bool is_control(const Summary& summary, const std::filesystem::path& run);

}  // namespace fedarena::results
