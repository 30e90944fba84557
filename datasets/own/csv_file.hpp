#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "fedarena/base/error.hpp"

namespace fedarena {

class CsvJoin;

/// A field of a CSV file, without its quotes, and where it begins.
struct CsvField {
  std::string text;
  int line = 0, column = 0;  ///< from 1; columns count bytes
};

/// What may stand between fields: "comma", "semicolon", "tab", "bar".
std::vector<std::string> separator_names();

/// A CSV file as RFC 4180 has it, plain or gzip, in UTF-8, record by record: fields between separators,
/// fields in quotes with "" for a quote, a first record with the names of the columns. Blanks around quotes
/// and names, ends of lines of any system, and a first line such as "sep=;" are taken as they are meant;
/// empty lines are skipped.
class CsvFile {
 public:
  /// Reads the file and its header. `separator` is one of the names above; empty: the one that occurs in the
  /// header. Throws Error when the file cannot be read, is empty or no text in UTF-8, names a column twice or
  /// only one column, or leaves the separator open.
  explicit CsvFile(const std::filesystem::path& file, const std::string& separator = {});

  const std::filesystem::path& path() const { return file_; }
  const std::vector<std::string>& header() const { return header_; }
  bool has(const std::string& column) const { return positions_.contains(column); }
  /// The position of a column. Throws Error with the columns that there are and the nearest name; `setting`
  /// says who asks for it.
  std::size_t find(const std::string& column, const std::string& setting) const;
  /// Appends the columns of another table to the header and, from then on, its fields to every record: those
  /// of the row found by its key, with the place of the key here. `other` must outlive this. Throws Error
  /// where the key is missing or another column has the same name in both.
  void join(const CsvJoin& other);
  /// Where a field of it begins.
  Place place_of(const CsvField& field) const { return {file_.string(), field.line, field.column}; }
  /// Whether both files hold the same bytes, decompressed.
  bool same_content(const CsvFile& other) const { return content_ == other.content_; }
  /// Reads the next record into `fields`; false at the end. Throws Error, with line and column, when it has
  /// another number of fields than the header, quotes that do not close, or a key that the other table lacks,
  /// and when it is the header once more.
  bool next(std::vector<CsvField>& fields);

 private:
  void check_text() const;
  void take_separator_line();
  void choose_separator(const std::string& name);
  void read_header();
  // False where there is one already; those without a name are never found.
  bool add_column(const std::string& name);
  bool read_record(std::vector<CsvField>& fields);
  bool repeats_header(const std::vector<CsvField>& fields) const;
  void skip_mark();
  void read_field(CsvField& field);
  void read_quoted(CsvField& field);
  void skip_blanks();
  bool at_end() const { return at_ == content_.size(); }
  bool at_line_end() const { return content_[at_] == '\n' || content_[at_] == '\r'; }
  bool at_field_end() const {
    return at_end() || content_[at_] == static_cast<std::uint8_t>(separator_) || at_line_end();
  }
  void step();
  [[noreturn]] void reject(int line, int column, std::string found, std::string remedy) const;

  std::filesystem::path file_;
  std::vector<std::uint8_t> content_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
  char separator_ = 0;
  std::string separator_name_;
  std::vector<std::string> header_;
  std::unordered_map<std::string, std::size_t> positions_;  // of its names
  const CsvJoin* joined_ = nullptr;
  std::size_t key_ = 0;  // position of its key
};

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
