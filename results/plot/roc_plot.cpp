#include "results/plot/roc_plot.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/plot/curve_plot.hpp"
#include "results/plot/curve_script.hpp"

namespace fedarena::results {
namespace {

std::vector<std::string> names_of(const RocPlot& plot) {
  std::vector<std::string> names;
  for (const RocPanel& panel : plot.panels) {
    for (const RocLine& line : panel.lines) {
      if (std::find(names.begin(), names.end(), line.name) == names.end()) names.push_back(line.name);
    }
  }
  return names;
}

// Rates, lower and upper end of the band.
std::string data_block(const std::string& name, const RocLine& line) {
  std::string text = fmt::format("{} << END\n", name);
  for (const RocPoint& point : line.points) {
    const double spread = point.std.value_or(0);
    text += fmt::format("{} {} {} {}\n", point.false_positive_rate, point.true_positive_rate,
                        std::max(0.0, point.true_positive_rate - spread),
                        std::min(1.0, point.true_positive_rate + spread));
  }
  return text + "END\n";
}

// Letters of a title that fit above a picture alone, and above a panel beside others.
constexpr std::size_t kTitleAlone = 72, kTitleInPanel = 58;

// Room for a square and the legend below it.
std::string canvas(const PanelGrid& grid, Terminal terminal) {
  const bool one = grid.columns == 1 && grid.rows == 1;
  return terminal_lines(terminal, one ? 1000 : 800 * grid.columns, one ? 1080 : 880 * grid.rows);
}

}  // namespace

std::string roc_script(const RocPlot& plot, Terminal terminal) {
  const std::vector<std::string> names = names_of(plot);
  const std::size_t panels = plot.panels.size();
  check_distinct(names.size(), kMostCurves, "curves");
  check_distinct(panels, kMostPanels, "panels");
  const PanelGrid grid = panel_grid(panels);
  std::string script = canvas(grid, terminal) +
                       axes_lines("false positive rate", "true positive rate", terminal) +
                       "set size square\nset xrange [0:1]\nset yrange [0:1]\n"
                       "$chance << END\n0 0\n1 1\nEND\n";
  if (panels > 1) script += fmt::format("set multiplot layout {},{}\n", grid.rows, grid.columns);
  int block = 0;
  for (const RocPanel& panel : plot.panels) {
    // The diagonal and all bands first: none may dim a line.
    std::vector<std::string> layers = {
        "  $chance using 1:2 with lines linecolor rgb '#808080' linewidth 1 dashtype 1 title \"chance\""};
    std::vector<std::string> lines;
    for (const RocLine& line : panel.lines) {
      const std::string data = fmt::format("$curve{}", ++block);
      script += data_block(data, line);
      const auto number = std::find(names.begin(), names.end(), line.name) - names.begin();
      const CurveLook look = look_of(static_cast<std::size_t>(number));
      if (line.seeds.size() > 1) layers.push_back(band_layer(data, look));
      lines.push_back(line_layer(data, look, line.points.size(),
                                 fmt::format("{}, AUC {}", line.name, area_text(line)), terminal));
    }
    layers.insert(layers.end(), lines.begin(), lines.end());
    const std::string shared = plot.title.empty() ? describe(plot) : plot.title + "; " + describe(plot);
    const std::string title = panels == 1 ? shared : panel.title + "; " + describe(plot);
    script += title_line(title, terminal, panels == 1 ? kTitleAlone : kTitleInPanel) +
              fmt::format("plot \\\n{}\n", fmt::join(layers, ", \\\n"));
  }
  if (panels > 1) script += "unset multiplot\n";
  return script;
}

}  // namespace fedarena::results
