#include "datasets/own/csv_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

namespace fedarena {
namespace {

// More would be a mistake: names or numbers taken for categories.
constexpr std::size_t kMostCategories = 1000;

std::optional<double> number_of(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
  if (text.front() == '+') text.remove_prefix(1);
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

[[noreturn]] void reject_field(const CsvFile& file, const CsvField& field, const std::string& column,
                               const std::string& allowed, const std::string& remedy) {
  const std::string found =
      field.text.empty() ? "is empty" : fmt::format("is \"{}\"", field.text.substr(0, 60));
  throw Error(Complaint{.place = {file.path().string(), field.line, field.column},
                        .found = fmt::format("the field of column \"{}\" {}", column, found),
                        .allowed = allowed,
                        .remedy = remedy});
}

double number_in(const CsvFile& file, const CsvField& field, const std::string& column,
                 const std::string& remedy) {
  const std::optional<double> number = number_of(field.text);
  if (!number) reject_field(file, field, column, "a finite number", remedy);
  return *number;
}

const std::string& text_in(const CsvFile& file, const CsvField& field, const std::string& column) {
  if (field.text.empty()) reject_field(file, field, column, "a text", "Fill it in or leave the row out");
  return field.text;
}

// Renumbers the values so that the names ascend.
void sort_names(CsvTable::Texts& column, const NameNumbers& numbers) {
  column.names = numbers.names();
  const bool all_numbers = std::all_of(column.names.begin(), column.names.end(),
                                       [](const std::string& name) { return number_of(name).has_value(); });
  std::sort(column.names.begin(), column.names.end(), [&](const std::string& left, const std::string& right) {
    if (all_numbers && *number_of(left) != *number_of(right)) return *number_of(left) < *number_of(right);
    return left < right;
  });
  NameNumbers sorted;
  for (const std::string& name : column.names) sorted.number(name);
  std::vector<std::int64_t> renumbered;
  for (const std::string& name : numbers.names()) renumbered.push_back(sorted.number(name));
  for (std::int64_t& value : column.values) value = renumbered[static_cast<std::size_t>(value)];
}

void check_categories(const CsvTable::Texts& column, std::size_t least, const std::string& remedy) {
  const std::size_t count = column.names.size();
  if (count >= least && count <= kMostCategories) return;
  throw Error(
      Complaint{.found = fmt::format("the column \"{}\" holds {} different values", column.name, count),
                .allowed = fmt::format("{} to {}", least, kMostCategories),
                .remedy = remedy});
}

}  // namespace

void CsvTable::append(CsvFile& file) {
  std::vector<std::size_t> positions;
  std::vector<CsvField> fields;
  while (file.next(fields)) {
    if (!chosen_) choose_features(file, fields);
    if (positions.empty()) positions = positions_in(file);
    append_row(file, fields, positions);
  }
}

// After the first row, which tells numbers from texts. A later text among numbers is a mistake to be shown,
// not a reason to drop the column.
void CsvTable::choose_features(const CsvFile& file, const std::vector<CsvField>& first) {
  chosen_ = true;
  const auto has_role = [&](const std::string& name) {
    return name == roles_.target || name == roles_.user ||
           std::find(roles_.categorical.begin(), roles_.categorical.end(), name) != roles_.categorical.end();
  };
  if (roles_.features.empty()) {
    for (std::size_t i = 0; i < file.header().size(); ++i) {
      if (!has_role(file.header()[i]) && number_of(first[i].text))
        roles_.features.push_back(file.header()[i]);
    }
  }
  if (roles_.features.empty() && roles_.categorical.empty())
    throw Error(Complaint{.place = {file.path().string()},
                          .found = "no column but the target holds numbers",
                          .remedy = "Name columns of texts under categorical"});
  for (const std::string& name : roles_.features) features_.push_back({name, {}});
  for (const std::string& name : roles_.categorical) categorical_.push_back({name, {}, {}});
  category_numbers_.resize(categorical_.size());
  numeric_target_.name = class_target_.name = roles_.target;
  users_.name = roles_.user;
}

// Of the features, the categorical columns, the target and the user, in this order.
std::vector<std::size_t> CsvTable::positions_in(const CsvFile& file) const {
  std::vector<std::size_t> positions;
  for (const Numbers& column : features_) positions.push_back(file.find(column.name, "features"));
  for (const Texts& column : categorical_) positions.push_back(file.find(column.name, "categorical"));
  positions.push_back(file.find(roles_.target, "target"));
  if (!roles_.user.empty()) positions.push_back(file.find(roles_.user, "user"));
  return positions;
}

void CsvTable::append_row(const CsvFile& file, const std::vector<CsvField>& fields,
                          const std::vector<std::size_t>& positions) {
  auto position = positions.begin();
  for (Numbers& column : features_) {
    column.values.push_back(number_in(file, fields[*position++], column.name,
                                      "Name the columns to learn from in features, and columns of texts in "
                                      "categorical"));
  }
  for (std::size_t i = 0; i < categorical_.size(); ++i) {
    categorical_[i].values.push_back(category_numbers_[i].number(fields[*position++].text));
  }
  const CsvField& target = fields[*position++];
  if (roles_.regression) {
    numeric_target_.values.push_back(number_in(
        file, target, roles_.target, "Mend it, leave the row out, or set task = \"classification\""));
  } else {
    class_target_.values.push_back(class_numbers_.number(text_in(file, target, roles_.target)));
  }
  if (!roles_.user.empty()) {
    users_.values.push_back(user_numbers_.number(text_in(file, fields[*position], roles_.user)));
  }
  ++rows_;
}

void CsvTable::finish() {
  for (std::size_t i = 0; i < categorical_.size(); ++i) {
    sort_names(categorical_[i], category_numbers_[i]);
    check_categories(categorical_[i], 1, "Leave it out of categorical");
  }
  users_.names = user_numbers_.names();
  if (roles_.regression) return;
  sort_names(class_target_, class_numbers_);
  check_categories(class_target_, 2, "Set task = \"regression\", or choose another target");
}

}  // namespace fedarena
