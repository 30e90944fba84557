#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

namespace fedarena {

/// A field of a CSV file, without its quotes, and where it begins.
struct CsvField {
  std::string text;
  int line = 0, column = 0;  ///< from 1; columns count bytes
};

/// A CSV file as RFC 4180 has it, plain or gzip, record by record: fields between commas, fields in quotes
/// with "" for a quote, a first record with the names of the columns. Ends of lines may be those of Unix;
/// empty lines are skipped.
class CsvFile {
 public:
  /// Reads the file and its header. Throws Error when it cannot be read, is empty, or names a column twice.
  explicit CsvFile(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return file_; }
  const std::vector<std::string>& header() const { return header_; }
  /// The position of a column. Throws Error with the columns that there are and the nearest name; `setting`
  /// says who asks for it.
  std::size_t find(const std::string& column, const std::string& setting) const;
  /// Reads the next record into `fields`; false at the end. Throws Error, with line and column, when it has
  /// another number of fields than the header, or quotes that do not close.
  bool next(std::vector<CsvField>& fields);

 private:
  bool read_record(std::vector<CsvField>& fields);
  void read_field(CsvField& field);
  void read_quoted(CsvField& field);
  bool at_end() const { return at_ == content_.size(); }
  bool at_line_end() const;
  void step();
  [[noreturn]] void reject(int line, int column, std::string found, std::string remedy) const;

  std::filesystem::path file_;
  std::vector<std::uint8_t> content_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
  std::vector<std::string> header_;
};

}  // namespace fedarena
