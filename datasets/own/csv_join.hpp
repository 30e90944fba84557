#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/own/csv_file.hpp"

namespace fedarena {

/// A table whose rows are found by what stands in one column, such as the coordinates of places by their
/// names.
class CsvJoin {
 public:
  /// Reads every row. Throws Error where there is no column `key` (which the setting `join` names) or two
  /// rows have the same text in it.
  CsvJoin(CsvFile file, const std::string& key);

  const std::string& key() const { return key_; }
  /// All columns but the key.
  const std::vector<std::string>& columns() const { return columns_; }
  /// What stands in them in the row of a text, without blanks around it. Throws Error, with the place of
  /// `asking` in `file`, where no row has it.
  const std::vector<std::string>& row_of(const CsvFile& file, const CsvField& asking) const;

 private:
  std::string key_, path_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, std::vector<std::string>> rows_;
};

}  // namespace fedarena
