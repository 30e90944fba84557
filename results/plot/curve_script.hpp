#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "results/plot/gnuplot.hpp"

// Parts of gnuplot scripts that all pictures of curves share.
namespace fedarena::results {

/// Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow, which is too light
/// for a line on white. Every picture of curves has them, in this order.
inline constexpr std::array<const char*, 7> kCurveColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                             "#e69f00", "#56b4e9", "#000000"};
/// Kinds of dashes and of marks, which tell curves apart in grey print; a picture says which they are.
inline constexpr std::size_t kCurveDashes = 4;
inline constexpr std::size_t kCurveMarks = 8;
/// About so many marks stand on a curve; more would hide it.
inline constexpr std::size_t kMarksOfCurve = 10;

/// Panels and curves that can still be told apart in one picture.
inline constexpr std::size_t kMostPanels = 12;
inline constexpr std::size_t kMostCurves = 16;

/// What tells a curve from the others of a picture.
struct CurveLook {
  std::string colour;
  int dash = 1, mark = 1;
};

/// That of the curve with this number, from 0.
CurveLook look_of(std::size_t number);

/// Throws Error when there are more curves or panels than can be told apart (`most`).
void check_distinct(std::size_t number, std::size_t most, const std::string& what);

/// Draws columns 3 and 4 of a data block over column 1 as a band in the colour of its curve; of one point,
/// which has no band, as a bar.
std::string spread_layer(const std::string& data, const CurveLook& look, std::size_t points);

/// Draws column 2 over column 1 as a line, with about kMarksOfCurve marks on its `points`; `title` for the
/// legend.
std::string line_layer(const std::string& data, const CurveLook& look, std::size_t points,
                       const std::string& title, Terminal terminal);

/// Names the axes and says how they, the grid and the legend, beside the data, look.
std::string axes_lines(const std::string& x, const std::string& y, Terminal terminal);

/// Leaves the marks of the x axis to gnuplot.
inline constexpr const char* kAnyTics = "set xtics autofreq\n";

/// "set xtics 1" where an axis of whole numbers is so short that gnuplot would mark places between them; else
/// those that gnuplot chooses.
std::string whole_tics(double first, double last);

/// A logarithmic axis ('x' or 'y') over positive numbers from `least` to `most`, numbered at 1, 2 and 5 of
/// each decade, more densely where it is short, and at powers of ten alone where it is long. gnuplot by
/// itself numbers those alone and lets the axis run from one to another, so that within a decade nothing can
/// be read.
std::string log_axis(char axis, double least, double most);

/// How panels stand beside and below each other.
struct PanelGrid {
  int columns = 1, rows = 1;
};
PanelGrid panel_grid(std::size_t panels);

/// A title of one of so many panels, `set title` with its font, in lines that fit above 1200 pixels, or 900
/// beside others, cut between words.
std::string title_line(const std::string& title, std::size_t panels, Terminal terminal);

}  // namespace fedarena::results
