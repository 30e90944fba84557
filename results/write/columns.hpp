#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/write/cell_grid.hpp"
#include "results/table/column_selection.hpp"

namespace fedarena::results {

/// One column of a table for readers, in both of its typesettings. A new column is one more entry of
/// `Shown`.
struct Column {
  std::string markdown_heading;
  std::string latex_heading;
  bool right_aligned = false;
  std::function<std::string(const Row&)> markdown;
  std::function<std::string(const Row&)> latex;
  bool decimal = false;  ///< numbers that LaTeX aligns by their points: its cells are of `siunitx_cell`
};

/// The columns of this table: those that tell its rows apart (parts of the setting, and what a sweep gives,
/// only where rows differ), then the selected ones. `heading` and `cell` choose the typesetting. The grid of
/// LaTeX says how each column is aligned.
CellGrid reader_grid(const Table& table, const Selection& selection, std::string Column::*heading,
                     std::function<std::string(const Row&)> Column::*cell);

/// "94.07 ± 0.26": a result as readers see it, in percent where it is a share; the mean alone for one seed.
std::string result_text(const Result& result, PlusMinus shown);

/// "45.25 ± 6.9": a published figure with the digits that it has.
std::string published_text(const Published& published);

/// `text` so that Markdown prints it as it is inside a table cell.
std::string markdown_escaped(std::string_view text);

/// `text` so that LaTeX prints it as it is.
std::string latex_escaped(std::string_view text);

}  // namespace fedarena::results
