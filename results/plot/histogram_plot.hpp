#pragma once

#include <string>

#include "results/images/pixel_statistics.hpp"
#include "results/plot/gnuplot.hpp"

namespace fedarena::results {

/// The gnuplot script, with its data, that draws a histogram: one hue and dashed lines where pictures are
/// clipped, so that it can be read in grey print and by the colour-blind.
std::string histogram_script(const PixelHistogram& histogram, Terminal terminal);

}  // namespace fedarena::results
