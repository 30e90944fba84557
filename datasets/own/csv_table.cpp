#include "datasets/own/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_cell.hpp"
#include "datasets/own/lookalikes.hpp"
#include "datasets/published/published_files.hpp"

namespace fedarena {
namespace {

// More would be a mistake: names or numbers taken for categories.
constexpr std::size_t kMostCategories = 1000;
// So many classes of numbers may be any, if each has so many rows on average.
constexpr std::size_t kFewClasses = 20, kRowsOfClass = 10;
constexpr auto kNowhere = std::numeric_limits<std::size_t>::max();

void append_name(const CsvFile& file, const CsvField& field, TextColumn& column) {
  if (looks_empty(field.text))
    reject_cell({file.place_of(field), field.text}, column.name(), "a text",
                "Fill it in, or set missing = \"drop\" to leave such rows out");
  column.append(file, field);
}

void check_categories(const TextColumn& column, std::size_t least, const std::string& file,
                      const std::string& remedy) {
  const std::size_t count = column.names().size();
  if (count >= least && count <= kMostCategories) return;
  reject_file(file,
              fmt::format("the column {} holds {}", fedarena::quoted(column.name()),
                          counted(count, "different value")),
              fmt::format("{} to {}", least, kMostCategories), remedy);
}

bool is_number(const std::string& name) { return number_of(name) || resembles_number(name); }

// How many names of classes are numbers, where these may be meant to be predicted as such; else 0.
std::size_t count_continuous(const TextColumn& column) {
  std::vector<std::string> numbers;
  std::ranges::copy_if(column.names(), std::back_inserter(numbers), is_number);
  // A few others are what stands for a missing number: "NA", "inf".
  if (2 * numbers.size() <= column.names().size()) return 0;
  const auto is_whole = [](const std::string& name) {
    const std::optional<double> number = number_of(name);
    return number && std::trunc(*number) == *number;
  };
  const bool few = numbers.size() <= kFewClasses || column.values().size() >= kRowsOfClass * numbers.size();
  if (few && std::ranges::all_of(numbers, is_whole)) return 0;
  return numbers.size();
}

// Throws Error where the target of classes may be one of numbers, all of them or all but a few.
void check_classes_are_meant(const TextColumn& column, const std::string& file) {
  const std::size_t numbers = count_continuous(column);
  if (numbers == 0) return;
  const auto other = std::ranges::find_if_not(column.names(), is_number);
  const std::string rows = counted(column.values().size(), "row");
  if (other == column.names().end())
    reject_file(file,
                fmt::format("the target {} holds {} different numbers in {}, which may be classes or not",
                            fedarena::quoted(column.name()), numbers, rows),
                "", "Set task = \"regression\", or task = \"classification\" to make each number a class");
  throw Error::at(column.places()[static_cast<std::size_t>(other - column.names().begin())],
                  fmt::format("the target {} holds {} here and {} different numbers in {}, which may be "
                              "classes or not",
                              fedarena::quoted(column.name()), quoted_exactly(*other), numbers, rows),
                  {.remedy = "Mend it or leave the row out and set task = \"regression\", or set task = "
                             "\"classification\" to make each text a class"});
}

}  // namespace

void CsvTable::append(CsvFile& file) {
  if (parts_.empty())
    choose_columns(file);
  else
    note_unknown(file);
  const bool indexed = !roles_.index.empty();
  const std::size_t index = indexed ? file.find(roles_.index, "index") : kNowhere;
  const std::vector<std::size_t> positions = positions_in(file);
  std::vector<CsvField> fields;
  while (file.next(fields)) {
    if (indexed && !take_index(fields[index])) continue;
    if (lacks_any(fields, positions))
      ++incomplete_;
    else
      append_row(file, fields, positions);
  }
  parts_.push_back({file.path().string(), rows()});
}

Place CsvTable::place_of(std::int64_t row) const {
  const auto part = std::ranges::find_if(parts_, [&](const Part& known) { return row < known.end; });
  return {part->file, lines_[static_cast<std::size_t>(row)]};
}

bool CsvTable::has_role(const std::string& name) const {
  return name == roles_.target || name == roles_.user || name == roles_.index ||
         std::ranges::find(roles_.categorical, name) != roles_.categorical.end();
}

// Writes the index in the place of the text; false where it has none.
bool CsvTable::take_index(CsvField& field) {
  const auto value = std::ranges::find_if(
      roles_.index_values, [&](const std::string& begin) { return trimmed(field.text).starts_with(begin); });
  if (value == roles_.index_values.end()) {
    ++left_out_;
    return false;
  }
  const auto position = static_cast<std::size_t>(value - roles_.index_values.begin());
  ++of_index_[position];
  field.text = std::to_string(position);
  return true;
}

// Of a column that nobody named it is known at the end alone whether anything is learned from it.
bool CsvTable::lacks_any(const std::vector<CsvField>& fields,
                         const std::vector<std::size_t>& positions) const {
  const std::size_t unnamed = roles_.features.empty() ? features_.size() : 0;
  return roles_.drop_missing && std::any_of(positions.begin() + static_cast<std::ptrdiff_t>(unnamed),
                                            positions.end(), [&](std::size_t at) {
                                              const std::string& text = fields[at].text;
                                              return looks_empty(text) ||
                                                     contains(roles_.missing_as, trimmed(text));
                                            });
}

// A column that may be one of numbers is taken for one until the last row.
void CsvTable::choose_columns(const CsvFile& file) {
  const std::set<std::string> asked(roles_.features.begin(), roles_.features.end());
  for (const std::string& name : file.header()) {
    if (name.empty())
      unused_.push_back({name, "no name"});
    else if (asked.contains(name) || has_role(name))
      continue;
    else if (asked.empty())
      features_.emplace_back(name, roles_.decimal);
    else
      unused_.push_back({name, "not in features"});
  }
  for (const std::string& name : roles_.features) features_.emplace_back(name, roles_.decimal);
  if (!roles_.index.empty()) features_.emplace_back(roles_.index, roles_.decimal);
  for (const std::string& name : roles_.categorical) categorical_.emplace_back(name);
  numeric_target_ = NumberColumn(roles_.target, roles_.decimal);
  class_target_ = TextColumn(roles_.target);
  users_ = TextColumn(roles_.user);
}

void CsvTable::note_unknown(const CsvFile& file) {
  std::set<std::string> known{""};
  for (const NumberColumn& column : features_) known.insert(column.name());
  for (const Unused& column : unused_) known.insert(column.name);
  for (const std::string& name : file.header())
    if (!has_role(name) && known.insert(name).second)
      unused_.push_back({name, "only in " + file.path().filename().string()});
}

// Of the features, the categorical columns, the target and the user, in this order.
std::vector<std::size_t> CsvTable::positions_in(const CsvFile& file) const {
  std::vector<std::size_t> positions;
  const bool all_asked = !roles_.features.empty();
  const std::string asking = all_asked || parts_.empty() ? "features" : parts_.front().file;
  for (const NumberColumn& column : features_) {
    const bool needed = all_asked || column.may_be_numbers() || file.has(column.name());
    positions.push_back(needed ? file.find(column.name(), asking) : kNowhere);
  }
  for (const TextColumn& column : categorical_) positions.push_back(file.find(column.name(), "categorical"));
  positions.push_back(file.find(roles_.target, "target"));
  if (!roles_.user.empty()) positions.push_back(file.find(roles_.user, "user"));
  return positions;
}

void CsvTable::append_row(const CsvFile& file, const std::vector<CsvField>& fields,
                          const std::vector<std::size_t>& positions) {
  auto position = positions.begin();
  for (NumberColumn& column : features_) {
    const std::size_t at = *position++;
    if (at != kNowhere) column.append(file, fields[at]);
  }
  for (TextColumn& column : categorical_) column.append(file, fields[*position++]);
  const CsvField& target = fields[*position++];
  if (regression())
    numeric_target_.append(file, target);
  else
    append_name(file, target, class_target_);
  if (!roles_.user.empty()) append_name(file, fields[*position], users_);
  lines_.push_back(fields.front().line);
}

void CsvTable::finish() {
  check_index();
  finish_features();
  for (TextColumn& column : categorical_) {
    check_categories(column, 1, parts_.front().file, "Leave it out of categorical");
    column.check_names(true, roles_.decimal);
    column.sort();
  }
  // Names that people or programs gave themselves may differ in capitals.
  users_.check_names(false, roles_.decimal);
  finish_target();
}

void CsvTable::check_index() const {
  for (std::size_t i = 0; i < of_index_.size(); ++i) {
    if (of_index_[i] > 0) continue;
    reject_file(parts_.front().file,
                fmt::format("no text of the column {} begins with {}, as index_values has it",
                            fedarena::quoted(roles_.index), fedarena::quoted(roles_.index_values[i])),
                "", "");
  }
}

void CsvTable::finish_features() {
  const bool all_asked = !roles_.features.empty();
  std::erase_if(features_, [&](const NumberColumn& column) {
    if (all_asked) {
      column.require_numbers("Mend it, leave the row out, or leave the column out of features");
      return false;
    }
    const ColumnKind kind = column.kind();
    if (kind == ColumnKind::kTexts) unused_.push_back({column.name(), "texts"});
    if (kind == ColumnKind::kEmpty) unused_.push_back({column.name(), "empty"});
    return kind == ColumnKind::kTexts || kind == ColumnKind::kEmpty;
  });
  if (!features_.empty() || !categorical_.empty()) return;
  reject_file(parts_.front().file, "no column but the target holds numbers", "",
              "Name columns of texts under categorical");
}

void CsvTable::finish_target() {
  if (regression())
    return numeric_target_.require_numbers("Mend it, leave the row out, or set task = \"classification\"");
  if (roles_.task == CsvTask::kUnstated) check_classes_are_meant(class_target_, parts_.front().file);
  const bool numbers = std::ranges::all_of(class_target_.names(), is_number);
  check_categories(class_target_, 2, parts_.front().file,
                   numbers ? "Set task = \"regression\", or choose another target" : "Choose another target");
  class_target_.check_names(true, roles_.decimal);
  class_target_.sort();
}

}  // namespace fedarena
