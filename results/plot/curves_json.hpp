#pragma once

#include <string>

#include "results/plot/curves.hpp"

namespace fedarena::results {

/// The numbers of a plot as JSON, for plots of one's own: panels, curves, points, and the notes.
std::string curves_json(const Curves& curves);

}  // namespace fedarena::results
