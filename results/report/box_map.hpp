#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedarena::results {

/// What is drawn of so many: all of them, or `most` evenly chosen ones with the first and the last.
std::vector<std::size_t> evenly_chosen(std::size_t all, std::size_t most);
/// "12 clients", or "100 of 350 clients, evenly chosen".
std::string chosen_text(std::size_t shown, std::size_t all, std::string_view what);

/// A frame of `columns` by `rows` boxes of `width` by `height` pixels, right of and below the space that
/// names take.
struct BoxMap {
  std::size_t columns = 1, rows = 1;
  int width = 6, height = 6, left = 0, top = 0;

  int x(std::size_t column) const { return left + width * static_cast<int>(column); }
  int y(std::size_t row) const { return top + height * static_cast<int>(row); }

  /// The colour of a box, a position in `colours`; none: it stays empty.
  using Colour = std::function<std::optional<std::size_t>(std::size_t column, std::size_t row)>;
  /// The whole picture as an SVG element: one path a colour, so that a map of any size has few elements;
  /// `colours` are their attributes, `more` further elements.
  std::string svg(const Colour& colour, const std::vector<std::string>& colours, std::string_view label,
                  std::string_view more = {}) const;
};

}  // namespace fedarena::results
