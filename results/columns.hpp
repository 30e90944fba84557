#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/cell_grid.hpp"
#include "results/column_selection.hpp"

namespace fedarena::results {

/// One column of a table for readers, in both of its typesettings. A new column is one more entry of
/// `Shown`.
struct Column {
  std::string markdown_heading;
  std::string latex_heading;
  bool right_aligned = false;
  std::function<std::string(const Row&)> markdown;
  std::function<std::string(const Row&)> latex;
};

/// The columns of this table: those that tell its rows apart (parts of the setting, and what a sweep gives,
/// only where rows differ), then the selected ones. `heading` and `cell` choose the typesetting.
CellGrid reader_grid(const Table& table, const Selection& selection, std::string Column::*heading,
                     std::function<std::string(const Row&)> Column::*cell);

/// `text` so that Markdown prints it as it is inside a table cell.
std::string markdown_escaped(std::string_view text);

/// `text` so that LaTeX prints it as it is.
std::string latex_escaped(std::string_view text);

}  // namespace fedarena::results
