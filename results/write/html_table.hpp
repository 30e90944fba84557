#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/write/cell_grid.hpp"

namespace fedarena::results {

struct HtmlCell {
  std::string text;  ///< plain
  bool strong = false;
};

/// A table of plain texts; the first cell of a row names it.
struct HtmlTable {
  std::string caption = {};
  std::vector<bool> right_aligned = {};  ///< by column
  std::vector<std::string> headings = {};
  std::vector<std::vector<HtmlCell>> rows = {};
  /// Whether cells of numbers carry them in full as `data-key`, and the table the class "sortable".
  bool sortable = false;
};

/// The table whose cells `reader_grid` escaped for Markdown. Only columns of numbers have bold cells.
HtmlTable from_markdown(const CellGrid& grid);

/// The element <table>, everything escaped.
std::string to_html(const HtmlTable& table);

/// The number by which a cell is sorted: "94.07 ± 0.26" is 94.07, "1.50 KiB" is 1536, "≥ 2.00 M" is two
/// million, "20/30" is 20. None for a dash or a word.
std::optional<double> sort_number(std::string_view text);

}  // namespace fedarena::results
