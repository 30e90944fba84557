#pragma once

#include <string>
#include <vector>

namespace fedarena::results {

/// Cells that are escaped for where they go: a line of headings, then one line a row.
struct CellGrid {
  std::vector<bool> right_aligned;  ///< by column
  std::vector<std::vector<std::string>> lines;
  /// LaTeX's letters of the columns, "l" or siunitx's "S[...]"; empty: "l" and "r" by `right_aligned`.
  std::vector<std::string> latex_columns = {};
};

/// As a Markdown table that reads well in a terminal.
std::string markdown_grid(const CellGrid& grid);

/// As a LaTeX tabular with the rules of booktabs.
std::string latex_grid(const CellGrid& grid);

}  // namespace fedarena::results
