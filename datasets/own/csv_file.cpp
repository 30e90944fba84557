#include "datasets/own/csv_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/nearest.hpp"

#include "datasets/published/published_files.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 34;
constexpr std::array<std::uint8_t, 3> kByteOrderMark{0xef, 0xbb, 0xbf};

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& file)
    : file_(file), content_(read_content(file, kLargestTable)) {
  if (content_.size() >= kByteOrderMark.size() &&
      std::equal(kByteOrderMark.begin(), kByteOrderMark.end(), content_.begin()))
    at_ = kByteOrderMark.size();
  std::vector<CsvField> names;
  if (!read_record(names)) reject(0, 0, "the file is empty", "Begin it with a line of column names");
  for (CsvField& name : names) {
    if (std::find(header_.begin(), header_.end(), name.text) != header_.end())
      reject(name.line, name.column, fmt::format("two columns are called \"{}\"", name.text), "Rename one");
    header_.push_back(std::move(name.text));
  }
}

std::size_t CsvFile::find(const std::string& column, const std::string& setting) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  throw Error(Complaint{.place = {file_.string()},
                        .found = fmt::format("there is no column \"{}\", which {} names", column, setting),
                        .allowed = join_names(header_),
                        .nearest = nearest_name(column, header_)});
}

bool CsvFile::next(std::vector<CsvField>& fields) {
  if (!read_record(fields)) return false;
  if (fields.size() != header_.size())
    reject(fields.front().line, 0,
           fmt::format("the record has {} fields and the header {}", fields.size(), header_.size()),
           "Put fields with commas in quotes");
  return true;
}

// Fields keep their memory from one record to the next.
bool CsvFile::read_record(std::vector<CsvField>& fields) {
  while (!at_end() && at_line_end()) step();
  if (at_end()) return false;
  std::size_t count = 0;
  while (true) {
    if (count == fields.size()) fields.emplace_back();
    read_field(fields[count++]);
    if (at_end() || at_line_end()) break;
    step();  // the comma
  }
  fields.resize(count);
  return true;
}

void CsvFile::read_field(CsvField& field) {
  field.text.clear();
  field.line = line_;
  field.column = column_;
  if (!at_end() && content_[at_] == '"') return read_quoted(field);
  while (!at_end() && content_[at_] != ',' && !at_line_end()) {
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
  if (!at_end() && content_[at_] != ',' && !at_line_end())
    reject(line_, column_, "text after closing quotes", "Write \"\" for a quote inside of quotes");
}

// A carriage return counts before a line feed only.
bool CsvFile::at_line_end() const {
  if (content_[at_] == '\n') return true;
  return content_[at_] == '\r' && (at_ + 1 == content_.size() || content_[at_ + 1] == '\n');
}

void CsvFile::step() {
  ++column_;
  if (content_[at_++] != '\n') return;
  ++line_;
  column_ = 1;
}

void CsvFile::reject(int line, int column, std::string found, std::string remedy) const {
  throw Error(Complaint{
      .place = {file_.string(), line, column}, .found = std::move(found), .remedy = std::move(remedy)});
}

}  // namespace fedarena
