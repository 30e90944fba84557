#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// Which keys of `row_values` make the lines and the columns of a matrix, as users write them.
struct PivotKeys {
  std::vector<std::string> rows;  ///< at least one; their values begin a line
  std::string across;             ///< its values head the columns
};

/// One line of a matrix.
struct PivotLine {
  std::vector<std::string> values;  ///< by `Pivot::row_keys`
  std::vector<const Row*> cells;    ///< by `Pivot::columns`; nullptr where there is no such row
};

/// One number of a table as a matrix. It points into its table.
struct Pivot {
  std::vector<std::string> row_keys;
  std::string across;
  std::vector<std::string> columns;  ///< values of `across`, numbers as numbers, others in natural order
  std::vector<PivotLine> lines;      ///< in the same order
  bool shares = true;                ///< whether every result is a share, shown in percent
};

/// Throws Error for a key that there is not or that comes twice, and where two rows of the table would stand
/// in one cell: it names the keys that still tell them apart. Without what all rows share, choices are short:
/// "shared-classes (classes_per_client = 2)".
Pivot make_pivot(const Table& table, const PivotKeys& keys);

/// As a Markdown table that reads well in a terminal, with the caption, legend and notes of the table. What
/// the table marks as the best of its setting is bold. Where rows have published figures, a column of them
/// stands beside the column of results.
std::string render_pivot_markdown(const Table& table, const Pivot& pivot);
std::string render_pivot_latex(const Table& table, const Pivot& pivot);

/// Comma-separated raw numbers; each column of the matrix is "VALUE mean", "VALUE std", "VALUE half_width_95"
/// and "VALUE seeds", and "VALUE published" where rows have such figures.
std::string render_pivot_csv(const Table& table, const Pivot& pivot);

}  // namespace fedarena::results
