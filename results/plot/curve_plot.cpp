#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "results/plot/curve_script.hpp"
#include "results/plot/curves.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

std::vector<std::string> names_of(const Curves& curves) {
  std::vector<std::string> names;
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      if (!contains(names, curve.marked_name())) names.push_back(curve.marked_name());
    }
  }
  return names;
}

void check_logarithms(const Curves& curves, const CurveStyle& style) {
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      for (const CurvePoint& point : curve.points) {
        if ((!style.log_x || point.x > 0) && (!style.log_y || point.y > 0)) continue;
        throw Error(Complaint{
            .found = fmt::format("{} in round {}: a logarithmic axis has no place for {} {}", curve.name,
                                 point.round, point.x > 0 ? curves.y.name : std::string(curves.x.name),
                                 short_number(point.x > 0 ? point.y : point.x))});
      }
    }
  }
}

// Where x goes in whole steps (rounds).
std::string tics_of(const Curves& curves) {
  std::vector<double> places;
  for (const CurvePanel& panel : curves.panels) {
    for (const Curve& curve : panel.curves) {
      for (const CurvePoint& point : curve.points) places.push_back(point.x);
    }
  }
  if (places.empty() || std::ranges::any_of(places, [](double x) { return x != std::floor(x); })) return {};
  const auto [least, most] = std::ranges::minmax(places);
  return whole_tics(least, most);
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

}  // namespace

std::string curves_script(const Curves& curves, const CurveStyle& style, Terminal terminal) {
  const std::vector<std::string> names = names_of(curves);
  const std::size_t panels = curves.panels.size();
  check_distinct(names.size(), kMostCurves, "curves");
  check_distinct(panels, kMostPanels, "panels");
  check_logarithms(curves, style);
  const auto [columns, rows] = panel_grid(panels);
  std::string script =
      terminal_lines(terminal, columns == 1 ? 1200 : 900 * columns, rows == 1 ? 800 : 720 * rows);
  script += axes_lines(std::string(curves.x.heading), curves.y.heading, terminal);
  if (style.log_x) script += "set logscale x\n";
  if (!style.log_x) script += tics_of(curves);
  if (style.log_y) script += "set logscale y\n";
  // Bands may leave what a percentage can be.
  if (curves.y.is_share() && !style.log_y) script += "set yrange [0<*:*<100]\n";
  if (panels > 1) script += fmt::format("set multiplot layout {},{}\n", rows, columns);
  int block = 0;
  for (const CurvePanel& panel : curves.panels) {
    const std::string& title = panels == 1 ? curves.title : panel.title;
    // All bands first: none may dim a line.
    std::vector<std::string> layers, lines;
    for (const Curve& curve : panel.curves) {
      const std::string data = fmt::format("$curve{}", ++block);
      script += data_block(data, curve, style.log_y);
      const auto number = std::ranges::find(names, curve.marked_name()) - names.begin();
      const CurveLook look = look_of(static_cast<std::size_t>(number));
      if (curve.seeds.size() > 1) layers.push_back(band_layer(data, look));
      lines.push_back(line_layer(data, look, curve.points.size(), curve.marked_name(), terminal));
    }
    layers.insert(layers.end(), lines.begin(), lines.end());
    script += title_line(title, panels, terminal) + fmt::format("plot \\\n{}\n", fmt::join(layers, ", \\\n"));
  }
  if (panels > 1) script += "unset multiplot\n";
  return script;
}

}  // namespace fedarena::results
