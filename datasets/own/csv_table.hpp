#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/own/csv_file.hpp"
#include "datasets/own/name_numbers.hpp"

namespace fedarena {

/// Which columns of a CSV file mean what.
struct CsvRoles {
  std::string target;
  bool regression = false;
  std::vector<std::string> features;  ///< numbers; empty: every column that begins with one and has no role
  std::vector<std::string> categorical;  ///< texts
  std::string user;                      ///< empty: nobody knows
};

/// What the columns with a role hold, row by row.
class CsvTable {
 public:
  struct Numbers {
    std::string name;
    std::vector<double> values;
  };
  struct Texts {
    std::string name;
    std::vector<std::int64_t> values;  ///< positions in `names`
    std::vector<std::string> names;    ///< ascending: as numbers where all of them are, else as bytes
  };

  explicit CsvTable(CsvRoles roles) : roles_(std::move(roles)) {}

  /// Appends the rows of a file; every file must have the columns of the first one. Throws Error, with line
  /// and column, on a number that is none and a text that is missing.
  void append(CsvFile& file);
  /// Sorts the names; once, after the last file. Throws Error when a column has too few or too many different
  /// texts.
  void finish();

  std::int64_t rows() const { return rows_; }
  const std::vector<Numbers>& features() const { return features_; }
  const std::vector<Texts>& categorical() const { return categorical_; }
  const Numbers& numeric_target() const { return numeric_target_; }  ///< of a regression
  const Texts& class_target() const { return class_target_; }        ///< of a classification
  const Texts& users() const { return users_; }                      ///< without values where nobody knows

 private:
  void choose_features(const CsvFile& file, const std::vector<CsvField>& first);
  void append_row(const CsvFile& file, const std::vector<CsvField>& fields,
                  const std::vector<std::size_t>& positions);
  std::vector<std::size_t> positions_in(const CsvFile& file) const;

  CsvRoles roles_;
  std::int64_t rows_ = 0;
  bool chosen_ = false;
  std::vector<Numbers> features_;
  std::vector<Texts> categorical_;
  Numbers numeric_target_;
  Texts class_target_, users_;
  std::vector<NameNumbers> category_numbers_;
  NameNumbers class_numbers_, user_numbers_;
};

}  // namespace fedarena
