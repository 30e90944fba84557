#include "results/curve_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "results/curve_look.hpp"
#include "results/number_format.hpp"

namespace fedarena::results {
namespace {

// Disc, square, triangle up, diamond, triangle down; circle, square and triangle without filling.
constexpr std::array<int, kCurveMarks> kMarks = {7, 5, 9, 13, 11, 6, 4, 8};

std::vector<std::string> names_of(const Curves& curves) {
  std::vector<std::string> names;
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      if (std::find(names.begin(), names.end(), curve.name) == names.end()) names.push_back(curve.name);
    }
  }
  return names;
}

void check_number(std::size_t number, std::size_t most, const std::string& what) {
  if (number <= most) return;
  throw Error(Complaint{.found = fmt::format("{} {} cannot be told apart in one picture", number, what),
                        .allowed = fmt::format("at most {}", most),
                        .remedy = "Name the folders of fewer runs, or choose rows with --labels."});
}

void check_logarithms(const Curves& curves, const CurveStyle& style) {
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      for (const CurvePoint& point : curve.points) {
        if ((!style.log_x || point.x > 0) && (!style.log_y || point.y > 0)) continue;
        throw Error(Complaint{
            .found = fmt::format("{} in round {}: a logarithmic axis has no place for {} {}", curve.name,
                                 point.round, point.x > 0 ? name_of(curves.y) : std::string(curves.x.name),
                                 short_number(point.x > 0 ? point.y : point.x))});
      }
    }
  }
}

// x, y, lower and upper end of the band.
std::string data_block(const std::string& name, const Curve& curve, bool log_y) {
  std::string text = fmt::format("{} << END\n", name);
  for (const CurvePoint& point : curve.points) {
    const double spread = point.std.value_or(0);
    double low = point.y - spread;
    // A band that reaches below zero has no end on a logarithmic axis; the point's own distance upwards,
    // mirrored there, stays in the picture.
    if (log_y && low <= 0) low = point.y * point.y / (point.y + spread);
    text += fmt::format("{} {} {} {}\n", point.x, point.y, low, point.y + spread);
  }
  return text + "END\n";
}

struct Look {
  std::string colour;
  int dash, mark;
};

Look look_of(std::size_t number) {
  return {.colour = kCurveColours[number % kCurveColours.size()],
          .dash = static_cast<int>(number % kCurveDashes) + 1,
          .mark = kMarks[number % kMarks.size()]};
}

std::string band_of(const std::string& data, const Look& look) {
  return fmt::format(
      "  {} using 1:3:4 with filledcurves fillcolor rgb '{}' fillstyle transparent solid 0.18 noborder "
      "notitle",
      data, look.colour);
}

std::string line_of(const std::string& data, const Curve& curve, const Look& look, Terminal terminal) {
  return fmt::format(
      "  {} using 1:2 with linespoints linecolor rgb '{}' linewidth 2.5 dashtype {} pointtype {} pointsize "
      "1.2 pointinterval {} title {}",
      data, look.colour, look.dash, look.mark, std::max<std::size_t>(1, curve.points.size() / kMarksOfCurve),
      quoted(curve.name, terminal));
}

// In lines that fit above a panel, cut between words. In gnuplot's double quotes.
std::string wrapped(const std::string& title, Terminal terminal) {
  constexpr std::size_t kWidth = 95;
  std::string text = quoted(title, terminal);
  std::size_t line = 0;
  for (std::size_t space = text.find(' '); space != std::string::npos; space = text.find(' ', space + 1)) {
    const std::size_t next = std::min(text.find(' ', space + 1), text.size());
    if (next - line <= kWidth) continue;
    text.replace(space, 1, "\\n");
    line = space;
  }
  return text;
}

}  // namespace

std::string curves_script(const Curves& curves, const CurveStyle& style, Terminal terminal) {
  const std::vector<std::string> names = names_of(curves);
  const std::size_t panels = curves.panels.size();
  check_number(names.size(), kMostCurves, "curves");
  check_number(panels, kMostPanels, "panels");
  check_logarithms(curves, style);
  const int columns = panels == 1 ? 1 : panels <= 4 ? 2 : 3;
  const int rows = (static_cast<int>(panels) + columns - 1) / columns;
  std::string script =
      terminal_lines(terminal, columns == 1 ? 1200 : 900 * columns, rows == 1 ? 800 : 720 * rows);
  script += fmt::format(
      "set xlabel {} noenhanced\n"
      "set ylabel {} noenhanced\n"
      "set border 3\n"
      "set tics nomirror out\n"
      "set grid lt 1 lc rgb '#d8d8d8'\n"
      "set key below noenhanced Left reverse samplen 4 height 0.5\n",
      quoted(curves.x.heading, terminal), quoted(heading(curves.y), terminal));
  if (style.log_x) script += "set logscale x\n";
  if (style.log_y) script += "set logscale y\n";
  // Bands may leave what a percentage can be.
  if (is_share(curves.y) && !style.log_y) script += "set yrange [0<*:*<100]\n";
  if (panels > 1) script += fmt::format("set multiplot layout {},{}\n", rows, columns);
  int block = 0;
  for (const CurvePanel& panel : curves.panels) {
    const std::string& title = panels == 1 ? curves.title : panel.title;
    // All bands first: none may dim a line.
    std::vector<std::string> layers, lines;
    for (const Curve& curve : panel.curves) {
      const std::string data = fmt::format("$curve{}", ++block);
      script += data_block(data, curve, style.log_y);
      const auto number = std::find(names.begin(), names.end(), curve.name) - names.begin();
      const Look look = look_of(static_cast<std::size_t>(number));
      if (curve.seeds.size() > 1) layers.push_back(band_of(data, look));
      lines.push_back(line_of(data, curve, look, terminal));
    }
    layers.insert(layers.end(), lines.begin(), lines.end());
    script += fmt::format("set title {} noenhanced font ',{}'\nplot \\\n{}\n", wrapped(title, terminal),
                          terminal == kPdfTerminal ? 8 : 16, fmt::join(layers, ", \\\n"));
  }
  if (panels > 1) script += "unset multiplot\n";
  return script;
}

}  // namespace fedarena::results
