#include "datasets/own/csv_file.hpp"

#include <algorithm>
#include <array>
#include <simdjson.h>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/file.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_cell.hpp"
#include "datasets/published/published_files.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 34;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// What spreadsheets write above the header to name the separator.
constexpr std::string_view kSeparatorLine = "sep=";
constexpr std::array<std::pair<char, const char*>, 4> kSeparators = {
    {{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}}};

std::string name_of_separator(char separator) {
  const auto* found = find_named(kSeparators, separator, &std::pair<char, const char*>::first);
  return found == nullptr ? "" : found->second;
}

std::string_view text_in(const std::vector<std::uint8_t>& content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

// The first line that is not empty, without what stands in quotes, which may hide separators.
std::string first_line_without_quoted(std::string_view text) {
  std::string line;
  bool inside = false;
  for (const char letter : text) {
    if (letter == '"') inside = !inside;
    const bool ends = !inside && (letter == '\n' || letter == '\r');
    if (ends && !line.empty()) break;
    if (!ends && (!inside || letter == '"')) line += letter;
  }
  return line;
}

// A file that is too large is not read before it is refused, unless only unpacking it tells.
std::vector<std::uint8_t> read_table(const std::filesystem::path& file) {
  std::vector<std::uint8_t> content;
  const bool fits = RegularFile(file).size() < kLargestTable;
  if (fits) content = read_content(file, kLargestTable);
  if (fits && content.size() < kLargestTable) return content;
  reject_file(file, "the table has more than 16 GiB", "", "Take a part of it");
}

}  // namespace

std::vector<std::string> separator_names() {
  return names_of(kSeparators, &std::pair<char, const char*>::second);
}

CsvFile::CsvFile(const std::filesystem::path& file, const std::string& separator)
    : file_(file), content_(read_table(file)) {
  check_text();
  skip_mark();
  take_separator_line();
  choose_separator(separator);
  read_header();
}

void CsvFile::check_text() const {
  const std::string_view text = text_in(content_);
  const bool wide = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (wide || text.find('\0') != std::string_view::npos)
    reject(0, 0,
           wide ? "the text is in UTF-16 or UTF-32"
                : "bytes of 0 are no text in UTF-8, but UTF-16, a spreadsheet or another binary file",
           "Save it as CSV in UTF-8; iconv -f UTF-16 -t UTF-8 converts text in UTF-16");
  if (simdjson::validate_utf8(text.data(), text.size())) return;  // much faster than what finds the place
  const auto before = std::ranges::count(text.substr(0, first_invalid_utf8(text)), '\n');
  reject(static_cast<int>(before) + 1, 0, "the line is not in UTF-8",
         "Convert the file, such as by iconv -f WINDOWS-1252 -t UTF-8");
}

void CsvFile::take_separator_line() {
  const std::string_view rest = text_in(content_).substr(at_);
  if (!rest.starts_with(kSeparatorLine) || rest.size() <= kSeparatorLine.size()) return;
  const char letter = rest[kSeparatorLine.size()];
  const std::string_view behind = rest.substr(kSeparatorLine.size() + 1);
  if (name_of_separator(letter).empty() || !(behind.starts_with('\n') || behind.starts_with('\r'))) return;
  separator_ = letter;
  while (!at_end() && !at_line_end()) step();
}

void CsvFile::choose_separator(const std::string& name) {
  const std::string header = first_line_without_quoted(text_in(content_).substr(at_));
  std::vector<std::string> found;
  char last_found = 0;
  for (const auto& [letter, its_name] : kSeparators) {
    if (name == its_name) separator_ = letter;
    if (header.find(letter) == std::string::npos) continue;
    found.emplace_back(its_name);
    last_found = letter;
  }
  if (separator_ == 0 && found.size() > 1)
    reject(line_, 0, fmt::format("the first line holds more than one separator: {}", fmt::join(found, ", ")),
           fmt::format("Set separator = \"{}\", or whichever stands between the names", found.front()));
  if (separator_ == 0) separator_ = last_found;
  separator_name_ = name_of_separator(separator_);
}

void CsvFile::read_header() {
  std::vector<CsvField> names;
  if (!read_record(names)) reject(0, 0, "the file is empty", "Begin it with a line of column names");
  for (const CsvField& field : names) {
    const std::string name(trimmed(field.text));
    if (!add_column(name))
      reject(field.line, field.column, fmt::format("two columns are called {}", fedarena::quoted(name)),
             "Rename one");
  }
  if (header_.size() > 1) return;
  throw Error::at(
      {file_.string(), names.front().line},
      fmt::format("the first line names one column, {}", fedarena::quoted(header_.front().substr(0, 60))),
      {.allowed = "names of columns between commas, semicolons, tabs or bars (|), one kind in a file"});
}

bool CsvFile::add_column(const std::string& name) {
  const bool fresh = name.empty() || positions_.emplace(name, header_.size()).second;
  if (fresh) header_.push_back(name);
  return fresh;
}

std::size_t CsvFile::find(const std::string& column, const std::string& setting) const {
  if (const auto found = positions_.find(column); found != positions_.end()) return found->second;
  throw Error::in(file_, fmt::format("there is no column \"{}\", which {} names", column, setting),
                  {.allowed = join_names(header_), .nearest = nearest_name(column, header_)});
}

void CsvFile::join(const CsvJoin& other) {
  key_ = find(other.key(), "join");
  for (const std::string& name : other.columns()) {
    if (!add_column(name))
      reject(0, 0, fmt::format("the column {} is in the table of join_path, too", fedarena::quoted(name)),
             "Rename one");
  }
  joined_ = &other;
}

bool CsvFile::next(std::vector<CsvField>& fields) {
  if (!read_record(fields)) return false;
  const std::size_t own = header_.size() - (joined_ == nullptr ? 0 : joined_->columns().size());
  if (fields.size() != own)
    reject(fields.front().line, 0,
           fmt::format("the record has {} and the header {}, with a {} between them",
                       counted(fields.size(), "field"), own, separator_name_),
           fmt::format("Put fields that hold a {} in quotes, or set another separator", separator_name_));
  if (repeats_header(fields))
    reject(fields.front().line, 0, "the record repeats the header",
           "Remove the line: tables that are put together need one header");
  if (joined_ == nullptr) return true;
  const CsvField key = fields[key_];
  for (const std::string& text : joined_->row_of(*this, key)) fields.push_back({text, key.line, key.column});
  return true;
}

// Where all names are numbers, a row may well hold the same ones.
bool CsvFile::repeats_header(const std::vector<CsvField>& fields) const {
  bool has_word = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view text = trimmed(fields[i].text);
    if (text != header_[i]) return false;
    has_word = has_word || !(text.empty() || number_of(text));
  }
  return has_word;
}

// Tables that were put together may have one in front of each.
void CsvFile::skip_mark() {
  if (text_in(content_).substr(at_).starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
}

// Fields keep their memory from one record to the next.
bool CsvFile::read_record(std::vector<CsvField>& fields) {
  while (!at_end() && at_line_end()) step();
  skip_mark();
  if (at_end()) return false;
  std::size_t count = 0;
  while (true) {
    if (count == fields.size()) fields.emplace_back();
    read_field(fields[count++]);
    if (at_end() || at_line_end()) break;
    step();  // the separator
  }
  fields.resize(count);
  return true;
}

void CsvFile::read_field(CsvField& field) {
  field.text.clear();
  field.line = line_;
  field.column = column_;
  const std::size_t begin = at_;
  skip_blanks();
  if (!at_end() && content_[at_] == '"') return read_quoted(field);
  field.text.append(text_in(content_).substr(begin, at_ - begin));
  while (!at_field_end()) {
    field.text += static_cast<char>(content_[at_]);
    step();
  }
}

void CsvFile::read_quoted(CsvField& field) {
  step();
  while (true) {
    if (at_end()) reject(field.line, field.column, "quotes that open here do not close", "Close them");
    const auto letter = static_cast<char>(content_[at_]);
    step();
    if (letter != '"') {
      field.text += letter;
    } else if (!at_end() && content_[at_] == '"') {
      field.text += '"';
      step();
    } else {
      break;
    }
  }
  skip_blanks();
  if (!at_field_end())
    reject(line_, column_, "text after closing quotes", "Write \"\" for a quote inside of quotes");
}

void CsvFile::skip_blanks() {
  while (!at_field_end() && (content_[at_] == ' ' || content_[at_] == '\t')) step();
}

void CsvFile::step() {
  ++column_;
  const std::uint8_t byte = content_[at_++];
  const bool half = byte == '\r' && !at_end() && content_[at_] == '\n';  // of an end of line
  if ((byte != '\n' && byte != '\r') || half) return;
  ++line_;
  column_ = 1;
}

void CsvFile::reject(int line, int column, std::string found, std::string remedy) const {
  throw Error::at({file_.string(), line, column}, std::move(found), {.remedy = std::move(remedy)});
}

CsvJoin::CsvJoin(CsvFile file, const std::string& key) : key_(key), path_(file.path().string()) {
  const std::size_t at = file.find(key, "join");
  columns_ = file.header();
  columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<CsvField> fields;
  while (file.next(fields)) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (i != at) row.push_back(fields[i].text);
    const std::string name(trimmed(fields[at].text));
    if (!rows_.emplace(name, std::move(row)).second)
      throw Error::at(
          file.place_of(fields[at]),
          fmt::format("two rows have {} in the column {}", fedarena::quoted(name), fedarena::quoted(key_)),
          {.remedy = "Remove one"});
  }
}

const std::vector<std::string>& CsvJoin::row_of(const CsvFile& file, const CsvField& asking) const {
  const std::string name(trimmed(asking.text));
  if (const auto found = rows_.find(name); found != rows_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, row] : rows_) names.push_back(known);
  std::ranges::sort(names);
  throw Error::at(
      file.place_of(asking),
      fmt::format("the field of column {} is {}, which no row of {} has", fedarena::quoted(key_),
                  fedarena::quoted(name), path_),
      {.nearest = nearest_name(name, names), .remedy = "Add such a row there, or leave this one out"});
}

}  // namespace fedarena
