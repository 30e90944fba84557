#include "results/report/box_map.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "results/text/markup.hpp"

namespace fedarena::results {

std::vector<std::size_t> evenly_chosen(std::size_t all, std::size_t most) {
  std::vector<std::size_t> indices(std::min(all, most));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (all > most) {
    for (std::size_t& index : indices) index = index * (all - 1) / (most - 1);
  }
  return indices;
}

std::string chosen_text(std::size_t shown, std::size_t all, std::string_view what) {
  if (shown == all) return fmt::format("{} {}", all, what);
  return fmt::format("{} of {} {}, evenly chosen", shown, all, what);
}

std::string BoxMap::svg(const Colour& colour, const std::vector<std::string>& colours, std::string_view label,
                        std::string_view more) const {
  std::vector<std::string> paths(colours.size());
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (const std::optional<std::size_t> own = colour(column, row))
        paths.at(*own) += fmt::format("M{} {}h{}v{}h-{}z", x(column), y(row), width, height, width);
    }
  }
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" role=\"img\" aria-label=\"{2}\">\n",
                  x(columns) + 1, y(rows) + 1, html_escaped(label));
  for (std::size_t own = 0; own < colours.size(); ++own) {
    if (!paths[own].empty()) svg += fmt::format("<path {} d=\"{}\"/>\n", colours[own], paths[own]);
  }
  svg += fmt::format("<rect x=\"{}.5\" y=\"{}.5\" width=\"{}\" height=\"{}\"/>\n", left, top,
                     x(columns) - left, y(rows) - top);
  return svg + std::string(more) + "</svg>\n";
}

}  // namespace fedarena::results
