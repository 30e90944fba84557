#pragma once

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
  /// Values of `across`: numbers as numbers, labels in the order of the table's rows, others in natural
  /// order.
  std::vector<std::string> columns;
  std::vector<PivotLine> lines;  ///< in the same order
  bool shares = true;            ///< whether every result is a share, shown in percent
  /// What tells its numbers apart as well and stands in neither lines nor columns, "batch_size (32, 64)";
  /// empty without any. Not the parameters of other algorithms, which `row_notes` compare.
  std::string hidden = {};
};

/// Throws Error for a key that does not exist or that comes twice, and where two rows of the table would
/// stand in one cell: it names the keys that still tell them apart. Without what all rows share, choices are
/// short: "shared-classes (classes_per_client = 2)".
Pivot make_pivot(const Table& table, const PivotKeys& keys);

}  // namespace fedarena::results
