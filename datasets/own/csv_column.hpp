#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "datasets/own/csv_file.hpp"
#include "datasets/own/name_numbers.hpp"

namespace fedarena {

/// Where a field is, and what stands there.
struct CsvCell {
  Place place;
  std::string text;
};

/// What the cells of a column are, all together.
enum class ColumnKind {
  kNumbers,
  kTruths,  ///< True and False, which count as 1 and 0
  kTexts,   ///< of which not all could be meant as numbers
  kEmpty,
};

/// A column that holds numbers, as far as anybody has seen.
class NumberColumn {
 public:
  NumberColumn(std::string name, char decimal) : name_(std::move(name)), decimal_(decimal) {}

  void append(const CsvFile& file, const CsvField& field);
  /// False once the cells can only be texts.
  bool may_be_numbers() const { return any_number_ || all_texts_resemble_numbers_; }
  /// What the cells are. Throws Error, with the place of the first cell that does not fit, where some of
  /// them are numbers and others are not, and where all look like numbers that nobody can read for sure, as
  /// `require_numbers` does.
  ColumnKind kind() const;
  /// Throws Error unless all cells are numbers, or all are True or False, and where the sign for decimals may
  /// be one for thousands: with 1.250, 2.000 and 3.500 beside 999 and nothing else.
  void require_numbers(const std::string& remedy) const;

  const std::string& name() const { return name_; }
  /// One a row, where the column is one of numbers.
  const std::vector<double>& values() const { return values_; }

 private:
  [[noreturn]] void reject(const CsvCell& cell, const std::string& remedy) const;
  void note_form(const CsvFile& file, const CsvField& field);
  void require_decimals() const;

  std::string name_;
  char decimal_;
  std::vector<double> values_;
  bool any_number_ = false, all_texts_resemble_numbers_ = true;
  std::optional<CsvCell> first_truth_, first_empty_, first_text_;
  // Numbers such as 1.250 and such as 999, as long as there are no others.
  std::int64_t grouped_ = 0, ungrouped_ = 0;
  bool may_be_grouped_ = true;
  std::optional<CsvCell> first_grouped_;
};

/// A column of names: of classes, categories or users. Blanks around a name do not count.
class TextColumn {
 public:
  TextColumn() = default;
  explicit TextColumn(std::string name) : name_(std::move(name)) {}

  void append(const CsvFile& file, const CsvField& field);
  /// Throws Error where two names differ only in what people write differently by accident (essence_of).
  void check_names(bool any_case, char decimal = '.') const;
  /// Makes the names ascend: as numbers where all of them are, else as bytes.
  void sort();

  const std::string& name() const { return name_; }
  /// One a row: positions in `names`.
  const std::vector<std::int64_t>& values() const { return values_; }
  const std::vector<std::string>& names() const { return names_.names(); }
  /// Where each name was met first.
  const std::vector<Place>& places() const { return places_; }

 private:
  std::string name_;
  std::vector<std::int64_t> values_;
  NameNumbers names_;
  std::vector<Place> places_;
};

/// A refusal of a cell of a column, such as one that is empty.
[[noreturn]] void reject_cell(const CsvCell& cell, const std::string& column, const std::string& allowed,
                              const std::string& remedy);

}  // namespace fedarena
