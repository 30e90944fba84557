#pragma once

#include <cstddef>
#include <string>

#include "results/plot/curve_look.hpp"
#include "results/plot/terminal.hpp"

// Parts of gnuplot scripts that all pictures of curves share.
namespace fedarena::results {

/// What tells a curve from the others of a picture.
struct CurveLook {
  std::string colour;
  int dash = 1, mark = 1;
};

/// That of the curve with this number, from 0.
CurveLook look_of(std::size_t number);

/// Throws Error when there are more curves or panels than can be told apart (`most`).
void check_distinct(std::size_t number, std::size_t most, const std::string& what);

/// Draws columns 3 and 4 of a data block over column 1 as a band in the colour of its curve.
std::string band_layer(const std::string& data, const CurveLook& look);

/// Draws column 2 over column 1 as a line, with about kMarksOfCurve marks on its `points`; `title` for the
/// legend.
std::string line_layer(const std::string& data, const CurveLook& look, std::size_t points,
                       const std::string& title, Terminal terminal);

/// Names the axes and says how they, the grid and the legend, beside the data, look.
std::string axes_lines(const std::string& x, const std::string& y, Terminal terminal);

/// How panels stand beside and below each other.
struct PanelGrid {
  int columns = 1, rows = 1;
};
PanelGrid panel_grid(std::size_t panels);

/// Letters of a title that fit above a picture of 1200 pixels.
inline constexpr std::size_t kTitleWidth = 95;

/// A title of a panel, `set title` with its font, in lines of about `width` letters, cut between words.
std::string title_line(const std::string& title, Terminal terminal, std::size_t width = kTitleWidth);

}  // namespace fedarena::results
