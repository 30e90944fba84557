#include "datasets/own/csv_column.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "datasets/own/csv_cell.hpp"
#include "datasets/own/lookalikes.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kShownText = 60;
// So many digits stand between signs for thousands.
constexpr std::size_t kGroup = 3;
// Fewer numbers with three decimals are taken for chance.
constexpr std::int64_t kFewestGrouped = 3;

// What programs write for a number that is not there.
bool says_missing(std::string_view text) {
  return contains(
      std::array<std::string_view, 9>{"na", "n/a", "#n/a", "nan", "null", "none", "missing", "?", "-"},
      essence_of(text, true));
}

bool are_digits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char letter) { return '0' <= letter && letter <= '9'; });
}

void keep_first(std::optional<CsvCell>& first, const CsvFile& file, const CsvField& field) {
  if (!first) first = CsvCell{file.place_of(field), field.text};
}

}  // namespace

void reject_cell(const CsvCell& cell, const std::string& column, const std::string& allowed,
                 const std::string& remedy) {
  const std::string found =
      trimmed(cell.text).empty() ? "is empty" : "is " + quoted_exactly(shortened(cell.text, kShownText));
  throw Error::at(cell.place, fmt::format("the field of column {} {}", fedarena::quoted(column), found),
                  {.allowed = allowed, .remedy = remedy});
}

void NumberColumn::append(const CsvFile& file, const CsvField& field) {
  if (const std::optional<double> number = number_of(field.text, decimal_)) {
    any_number_ = true;
    note_form(file, field);
    values_.push_back(*number);
  } else if (const std::optional<bool> truth = truth_of(field.text)) {
    values_.push_back(*truth ? 1 : 0);
    keep_first(first_truth_, file, field);
  } else if (looks_empty(field.text)) {
    keep_first(first_empty_, file, field);
  } else {
    keep_first(first_text_, file, field);
    all_texts_resemble_numbers_ = all_texts_resemble_numbers_ && resembles_number(field.text);
  }
}

ColumnKind NumberColumn::kind() const {
  if (!may_be_numbers()) return ColumnKind::kTexts;
  if (!any_number_ && !first_truth_ && !first_text_) return ColumnKind::kEmpty;
  require_numbers("");
  return any_number_ ? ColumnKind::kNumbers : ColumnKind::kTruths;
}

void NumberColumn::require_numbers(const std::string& remedy) const {
  if (first_text_) reject(*first_text_, remedy);
  if (first_empty_) reject(*first_empty_, remedy);
  if (any_number_ && first_truth_) reject(*first_truth_, remedy);
  require_decimals();
}

// Programs write 1250 as 1.250 and 999 as it is where the sign is one for thousands; where it is one for
// decimals, other numbers of them turn up, or a 0 in front, or 999.000.
void NumberColumn::note_form(const CsvFile& file, const CsvField& field) {
  if (!may_be_grouped_) return;
  std::string_view text = trimmed(field.text);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t sign = std::min(text.find(decimal_), text.size());
  const std::string_view before = text.substr(0, sign), behind = text.substr(std::min(sign + 1, text.size()));
  const bool grouped = sign < text.size();
  may_be_grouped_ = are_digits(before) && before.size() <= kGroup &&
                    (!grouped || (are_digits(behind) && behind.size() == kGroup && before.front() != '0'));
  if (!may_be_grouped_) return;
  ++(grouped ? grouped_ : ungrouped_);
  if (grouped) keep_first(first_grouped_, file, field);
}

void NumberColumn::require_decimals() const {
  if (!may_be_grouped_ || grouped_ < kFewestGrouped || ungrouped_ == 0) return;
  const std::string text(trimmed(first_grouped_->text));
  std::string whole = text;
  std::erase(whole, decimal_);
  throw Error::at(
      first_grouped_->place,
      fmt::format("the field of column {} is {}, which may be {} with a sign for thousands, or {}",
                  fedarena::quoted(name_), fedarena::quoted(text), whole, *number_of(text, decimal_)),
      {.remedy =
           fmt::format("Write thousands without a sign, or every number of the column with its decimals "
                       "(999{}000), or name the columns to learn from in features (texts: in categorical)",
                       decimal_)});
}

void NumberColumn::reject(const CsvCell& cell, const std::string& remedy) const {
  if (resembles_number(cell.text)) {
    if (std::isinf(std::strtod(cell.text.c_str(), nullptr)))
      reject_cell(cell, name_, "a finite number", "Numbers end at 1.8e308: mend it or leave the row out");
    const bool comma = decimal_ == ',';
    reject_cell(cell, name_, "a finite number",
                fmt::format("Write it like 1234{}5{}, without signs for thousands, currencies or percent, or "
                            "set decimal = \"{}\" where decimals stand behind a {}",
                            decimal_, as_typed(cell.text) == cell.text ? "" : " in ASCII, with - for minus",
                            comma ? "point" : "comma", comma ? "point" : "comma"));
  }
  if (truth_of(cell.text))
    reject_cell(cell, name_, "a finite number, as elsewhere in the column", "Write 1 or 0 instead");
  if (looks_empty(cell.text))
    reject_cell(cell, name_, "a finite number",
                remedy.empty() ? "Fill it in, or name the columns to learn from in features, where missing = "
                                 "\"drop\" leaves such rows out"
                               : "Fill it in, or set missing = \"drop\" to leave such rows out");
  const std::string mend = remedy.empty()
                               ? "Mend it, leave the row out, or name the columns to learn from in "
                                 "features (texts: in categorical)"
                               : remedy;
  reject_cell(cell, name_, "a finite number",
              mend + (says_missing(cell.text)
                          ? fmt::format("; with features named, missing = \"drop\" and missing_as = {} leave "
                                        "such rows out",
                                        fedarena::quoted(cell.text))
                          : ""));
}

void TextColumn::append(const CsvFile& file, const CsvField& field) {
  values_.push_back(names_.number(std::string(trimmed(field.text))));
  if (places_.size() < names().size()) places_.push_back(file.place_of(field));
}

void TextColumn::check_names(bool any_case, char decimal) const {
  const auto alike = alike_names(names(), any_case, decimal);
  if (!alike) return;
  const auto [here, elsewhere] = *alike;
  throw Error(
      Complaint{.place = places_[here],
                .found = fmt::format("the column {} holds {} here and {} elsewhere", fedarena::quoted(name_),
                                     quoted_exactly(names()[here]), quoted_exactly(names()[elsewhere])),
                .allowed = names_told_apart(any_case),
                .remedy = "Write both alike if they mean the same, else rename one"});
}

void TextColumn::sort() {
  const std::vector<std::string>& met = names();
  const bool all_numbers =
      std::ranges::all_of(met, [](const std::string& name) { return number_of(name).has_value(); });
  std::vector<std::size_t> order(met.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t left, std::size_t right) {
    if (all_numbers && *number_of(met[left]) != *number_of(met[right]))
      return *number_of(met[left]) < *number_of(met[right]);
    return met[left] < met[right];
  });
  NameNumbers sorted;
  std::vector<Place> places;
  std::vector<std::int64_t> renumbered(met.size());
  for (const std::size_t old : order) {
    renumbered[old] = sorted.number(met[old]);
    places.push_back(std::move(places_[old]));
  }
  names_ = std::move(sorted);
  places_ = std::move(places);
  for (std::int64_t& value : values_) value = renumbered[static_cast<std::size_t>(value)];
}

}  // namespace fedarena
