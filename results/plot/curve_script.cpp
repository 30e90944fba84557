#include "results/plot/curve_script.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "results/text/markup.hpp"

namespace fedarena::results {
namespace {

// Disc, square, triangle up, diamond, triangle down; circle, square and triangle without filling.
constexpr std::array<int, kCurveMarks> kMarks = {7, 5, 9, 13, 11, 6, 4, 8};

// As gnuplot's strings, in lines of about so many letters.
std::string wrapped(std::string title, std::size_t width, Terminal terminal) {
  // Of the whole, not of each line; and before lines are measured.
  title = terminal == kTikzTerminal ? with_paired_quotes(title) : with_fonts_here(one_line(title), terminal);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t space = title.find(' '); space != std::string::npos; space = title.find(' ', space + 1)) {
    if (std::min(title.find(' ', space + 1), title.size()) - begin <= width) continue;
    lines.push_back(gnuplot_string(title.substr(begin, space - begin), terminal));
    begin = space + 1;
  }
  lines.push_back(gnuplot_string(title.substr(begin), terminal));
  return fmt::format("{}", fmt::join(lines, R"(."\n".)"));
}

}  // namespace

CurveLook look_of(std::size_t number) {
  return {.colour = kCurveColours[number % kCurveColours.size()],
          .dash = static_cast<int>(number % kCurveDashes) + 1,
          .mark = kMarks[number % kMarks.size()]};
}

void check_distinct(std::size_t number, std::size_t most, const std::string& what) {
  if (number <= most) return;
  throw Error(Complaint{.found = fmt::format("{} {} cannot be told apart in one picture", number, what),
                        .allowed = fmt::format("at most {}", most),
                        .remedy =
                            "Name the folders of fewer runs, choose rows with --labels, or print the points "
                            "alone: --format json without --output."});
}

std::string spread_layer(const std::string& data, const CurveLook& look, std::size_t points) {
  if (points == 1)
    return fmt::format(
        "  {} using 1:2:3:4 with yerrorbars linecolor rgb '{}' linewidth 2.5 pointtype 0 notitle", data,
        look.colour);
  return fmt::format(
      "  {} using 1:3:4 with filledcurves fillcolor rgb '{}' fillstyle transparent solid 0.18 noborder "
      "notitle",
      data, look.colour);
}

std::string line_layer(const std::string& data, const CurveLook& look, std::size_t points,
                       const std::string& title, Terminal terminal) {
  return fmt::format(
      "  {} using 1:2 with linespoints linecolor rgb '{}' linewidth 2.5 dashtype {} pointtype {} pointsize "
      "1.2 pointinterval {} title {}",
      data, look.colour, look.dash, look.mark, std::max<std::size_t>(1, points / kMarksOfCurve),
      gnuplot_string(title, terminal));
}

std::string axes_lines(const std::string& x, const std::string& y, Terminal terminal) {
  return fmt::format(
      "set xlabel {}\n"
      "set ylabel {}\n"
      "set border 3\n"
      "set tics nomirror out\n"
      "set grid lt 1 lc rgb '#d8d8d8'\n"
      "set key below Left reverse samplen 4 height 0.5\n",
      gnuplot_string(x, terminal), gnuplot_string(y, terminal));
}

std::string whole_tics(double first, double last) {
  constexpr double kFewSteps = 10;
  return last - first <= kFewSteps ? "set xtics 1\n" : kAnyTics;
}

std::string log_axis(char axis, double least, double most) {
  const std::string logarithmic = fmt::format("set logscale {}\n", axis);
  constexpr double kManyDecades = 1e3;
  if (most >= kManyDecades * least) return fmt::format("{}set {}tics autofreq\n", logarithmic, axis);
  std::vector<double> marks;
  if (most >= 2 * least) {
    const auto power_of = [](double number) { return static_cast<int>(std::floor(std::log10(number))); };
    for (int power = power_of(least); power <= power_of(most); ++power) {
      for (const int digit : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
        if (most < 5 * least || digit == 1 || digit == 2 || digit == 5)
          marks.push_back(digit * std::pow(10, power));
      }
    }
  } else if (most > least) {
    const double fifth = (most - least) / 5;
    const double decade = std::pow(10, std::floor(std::log10(fifth)));
    const double step = decade * (fifth < 2 * decade ? 2 : fifth < 5 * decade ? 5 : 10);
    const auto last = static_cast<std::int64_t>(std::floor(most / step + 1e-9));
    for (auto mark = static_cast<std::int64_t>(std::ceil(least / step - 1e-9)); mark <= last; ++mark)
      marks.push_back(static_cast<double>(mark) * step);
  } else {
    return fmt::format("{}set {}tics ({:.6g})\n", logarithmic, axis, least);
  }
  return fmt::format("{0}set {1}range [*:*] noextend\nset {1}tics ({2:.6g})\n", logarithmic, axis,
                     fmt::join(marks, ", "));
}

PanelGrid panel_grid(std::size_t panels) {
  const int columns = panels == 1 ? 1 : panels <= 4 ? 2 : 3;
  return {.columns = columns, .rows = (static_cast<int>(panels) + columns - 1) / columns};
}

std::string title_line(const std::string& title, std::size_t panels, Terminal terminal) {
  return fmt::format("set title {} font ',{}'\n", wrapped(title, panels == 1 ? 95 : 72, terminal),
                     terminal == kPdfTerminal ? 8 : 16);
}

}  // namespace fedarena::results
