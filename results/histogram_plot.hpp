#pragma once

#include <string>
#include <string_view>

#include "results/pixel_statistics.hpp"

namespace fedarena::results {

/// gnuplot's name for the kind of picture: "pngcairo" or "svg".
using Terminal = std::string_view;
inline constexpr Terminal kPngTerminal = "pngcairo";
inline constexpr Terminal kSvgTerminal = "svg";

/// The gnuplot script, with its data, that draws a histogram: one hue and dashed lines where pictures are
/// clipped, so that it can be read in grey print and by the colour-blind.
std::string histogram_script(const PixelHistogram& histogram, Terminal terminal);

}  // namespace fedarena::results
