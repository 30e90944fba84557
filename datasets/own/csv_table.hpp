#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/own/csv_column.hpp"
#include "datasets/own/csv_file.hpp"

namespace fedarena {

/// What is to be learned.
enum class CsvTask {
  kUnstated,  ///< classes, unless the target's numbers may be either
  kClassification,
  kRegression,
};

/// Which columns of a CSV file mean what.
struct CsvRoles {
  std::string target;
  CsvTask task = CsvTask::kUnstated;
  std::vector<std::string> features = {};  ///< numbers; empty: every column that holds them and has no role
  std::vector<std::string> categorical = {};  ///< texts
  /// Texts that become one number, 0, 1, ...: the position in `index_values` of how the text begins. Rows of
  /// other texts are left out. Empty: no such column.
  std::string index = {};
  std::vector<std::string> index_values = {};  ///< none begins as another one does
  std::string user = {};                       ///< empty: nobody knows
  char decimal = '.';                          ///< or ','
  /// Whether rows are left out that have an empty field, or one of these texts, in a column that is named.
  bool drop_missing = false;
  std::vector<std::string> missing_as = {};
};

/// What the columns with a role hold, row by row, over all files.
class CsvTable {
 public:
  /// A column that nothing is learned from, and why.
  struct Unused {
    std::string name;
    std::string reason;
  };

  explicit CsvTable(CsvRoles roles) : roles_(std::move(roles)), of_index_(roles_.index_values.size()) {}

  /// Appends the rows of a file; every file must have the columns of the first one that are used. Throws
  /// Error where a column or a text is missing.
  void append(CsvFile& file);
  /// Decides what columns without a role are; once, after the last file. Throws Error, with line and column,
  /// on a cell that does not fit its column, where no row begins as a value of the index, and where a column
  /// has too few or too many different texts, some that hardly differ, or may be classes as well as numbers.
  void finish();

  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  /// Where a row begins.
  Place place_of(std::int64_t row) const;
  bool regression() const { return roles_.task == CsvTask::kRegression; }
  const std::vector<NumberColumn>& features() const { return features_; }
  const std::vector<TextColumn>& categorical() const { return categorical_; }
  const NumberColumn& numeric_target() const { return numeric_target_; }  ///< of a regression
  const TextColumn& class_target() const { return class_target_; }        ///< of a classification
  const TextColumn& users() const { return users_; }  ///< without values where nobody knows
  const std::vector<Unused>& unused() const { return unused_; }
  const CsvRoles& roles() const { return roles_; }
  /// Rows that `index_values` leaves out.
  std::int64_t left_out() const { return left_out_; }
  /// Other rows that are left out because they lack something.
  std::int64_t incomplete() const { return incomplete_; }

 private:
  struct Part {
    std::string file;
    std::int64_t end;  // the first row that is not of it
  };

  void choose_columns(const CsvFile& file);
  void note_unknown(const CsvFile& file);
  std::vector<std::size_t> positions_in(const CsvFile& file) const;
  void append_row(const CsvFile& file, const std::vector<CsvField>& fields,
                  const std::vector<std::size_t>& positions);
  bool has_role(const std::string& name) const;
  bool take_index(CsvField& field);
  bool lacks_any(const std::vector<CsvField>& fields, const std::vector<std::size_t>& positions) const;
  void check_index() const;
  void finish_features();
  void finish_target();

  CsvRoles roles_;
  std::vector<Part> parts_;
  std::vector<int> lines_;
  std::vector<NumberColumn> features_;
  std::vector<TextColumn> categorical_;
  NumberColumn numeric_target_{"", '.'};
  TextColumn class_target_, users_;
  std::vector<Unused> unused_;
  std::int64_t left_out_ = 0, incomplete_ = 0;
  std::vector<std::int64_t> of_index_;  // rows of each of its values
};

}  // namespace fedarena
