#pragma once

#include <string>

#include "results/plot/curves.hpp"
#include "results/plot/gnuplot.hpp"

namespace fedarena::results {

struct CurveStyle {
  bool log_x = false, log_y = false;
};

/// The gnuplot script, with its data: a panel for each setting, the same curve of each in the same colour,
/// dash and mark, so that they can be told apart in grey print and by the colour-blind (Okabe and Ito's
/// colours); bands of one sample standard deviation over seeds; the legend beside the data, never on it. An
/// Error where there are too many panels or curves, or where a logarithm does not exist.
std::string curves_script(const Curves& curves, const CurveStyle& style, Terminal terminal);

}  // namespace fedarena::results
