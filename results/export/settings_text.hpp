#pragma once

#include <string>

#include "results/record/record.hpp"

namespace fedarena::results {

/// What a run is and how it was set, as a Markdown table of names and values.
std::string settings_text(const Summary& summary);

}  // namespace fedarena::results
