#pragma once

#include <string>

#include "results/plot/roc_curves.hpp"
#include "results/plot/terminal.hpp"

namespace fedarena::results {

/// The gnuplot script, with its data, in the look of curves_script(): bands of one sample standard deviation
/// over seeds, the diagonal of chance in grey, the areas in the legend below the data. An Error where there
/// are too many panels or lines.
std::string roc_script(const RocPlot& plot, Terminal terminal);

}  // namespace fedarena::results
