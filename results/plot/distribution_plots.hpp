#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/images/pixel_statistics.hpp"
#include "results/plot/gnuplot.hpp"

namespace fedarena::results {

/// Who holds how many examples of which class.
struct HeatMap {
  std::string title;                              ///< one line
  std::vector<std::vector<std::int64_t>> counts;  ///< [client][class]; at least one of each, none negative
};

/// The gnuplot script, with its data, that draws a row for each client, the first on top, and a column for
/// each class: one hue, darker for more examples, so that it can be read in grey print and by the
/// colour-blind. Few cells show their counts.
std::string heat_map_script(const HeatMap& map, Terminal terminal);

/// The gnuplot script, with its data, that draws a histogram: one hue and dashed lines where pictures are
/// clipped, so that it can be read in grey print and by the colour-blind.
std::string histogram_script(const PixelHistogram& histogram, Terminal terminal);

}  // namespace fedarena::results
