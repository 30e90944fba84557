#include "results/table/pivot.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "results/record/claim_text.hpp"
#include "results/table/row_values.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

std::string unmarked(const std::string& value) {
  return value.ends_with(kAssumedMark) ? value.substr(0, value.size() - std::string_view(kAssumedMark).size())
                                       : value;
}

struct ByValue {
  bool operator()(const std::string& left, const std::string& right) const {
    const int order = compare_values(unmarked(left), unmarked(right));
    return order != 0 ? order < 0 : left < right;
  }
  bool operator()(const std::vector<std::string>& left, const std::vector<std::string>& right) const {
    return std::ranges::lexicographical_compare(left, right, *this);
  }
};

std::string resolved(const std::vector<std::string>& keys, const std::string& option,
                     const std::string& text) {
  try {
    if (const auto key = find_row_key(keys, text)) return *key;
    reject_row_key(keys, text);
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.found = fmt::format("{}: {}", option, complaint.found);
    throw Error(std::move(complaint));
  }
}

// The settings of a choice that every row of the table has, "clients = 10": they tell nothing apart.
std::set<std::pair<std::string, std::string>> common_settings(const Table& table, const std::string& key) {
  std::set<std::pair<std::string, std::string>> common;
  for (const Row& row : table.rows) {
    const Sweep settings = settings_of_choice(row_value(row, key).value_or(""));
    if (&row == &table.rows.front()) common.insert(settings.begin(), settings.end());
    std::erase_if(common, [&](const auto& setting) { return !contains(settings, setting); });
  }
  return common;
}

// The values of a key, as they head lines or columns.
class PivotHeadings {
 public:
  PivotHeadings(const Table& table, std::string key) : key_(std::move(key)) {
    if (is_choice(key_)) common_ = common_settings(table, key_);
  }

  std::string of(const Row& row) const {
    std::string value = row_value(row, key_).value_or(kNothing);
    if (row.privacy && key_ == "epsilon") value += assumption_mark(*row.privacy, row.privacy->rdp);
    if (row.privacy && key_ == "epsilon_pld") value += assumption_mark(*row.privacy, row.privacy->pld);
    if (common_.empty()) return value;
    std::vector<std::string> kept;
    for (const auto& [name, setting] : settings_of_choice(value)) {
      if (!common_.contains({name, setting})) kept.push_back(fmt::format("{} = {}", name, setting));
    }
    const std::string name = name_of_choice(value);
    return kept.empty() ? name : fmt::format("{} ({})", name, fmt::join(kept, ", "));
  }

  // What it is sorted by: labels that a user named come as they were named.
  std::string rank(const Row& row) const {
    return key_ == "label" && row.place > 0 ? std::to_string(row.place) : of(row);
  }

  const std::string& key() const { return key_; }

 private:
  std::string key_;
  std::set<std::pair<std::string, std::string>> common_;
};

[[noreturn]] void reject_shared_cell(const PivotLine& line, const std::string& column, const Row& first,
                                     const Row& second) {
  const std::string name = row_name(first), other = row_name(second);
  throw Error(Complaint{
      .found = fmt::format("several rows of the table would stand at {}, {}, such as {}",
                           fmt::join(line.values, ", "), column,
                           name == other ? "two of " + name : fmt::format("{} and {}", name, other)),
      .remedy = fmt::format("add to --rows what tells them apart: {}",
                            fmt::join(keys_that_differ(first, second), ", "))});
}

// Whether headings tell a key: themselves, or as a part of a choice or of a row's privacy.
bool is_headed(const std::string& key, const std::vector<std::string>& headings) {
  constexpr std::array<std::string_view, 4> kOfPolicies = {"policy", "delta", "unit", "adjacency"};
  if (contains(headings, key) || contains(kOfPolicies, key)) return true;
  return std::ranges::any_of(kSettingParts, [&](const SettingPart& part) {
    return contains(headings, std::string(part.key)) && key.starts_with(fmt::format("{}.", part.section));
  });
}

std::string hidden_text(const Table& table, const std::vector<std::string>& headings) {
  std::map<std::string, std::set<std::string, ByValue>> values;
  for (const Row& row : table.rows) {
    const auto of_label = std::ranges::find(table.rows, row.label, &Row::label);
    for (const Row* other : {&table.rows.front(), &*of_label}) {
      for (const std::string& key : keys_that_differ(*other, row)) {
        if (is_headed(parameter_of(key), headings)) continue;
        for (const Row* one : {other, &row})
          values[parameter_of(key)].insert(row_value(*one, key).value_or(kNothing));
      }
    }
  }
  std::vector<std::string> texts;
  for (const auto& [key, found] : values)
    texts.push_back(fmt::format("{} ({})", key, fmt::join(found, ", ")));
  return one_line(fmt::format("{}", fmt::join(texts, "; ")));
}

}  // namespace

Pivot make_pivot(const Table& table, const PivotKeys& keys) {
  Pivot pivot;
  if (table.rows.empty()) return pivot;
  const std::vector<std::string> known = row_keys(table);
  std::vector<PivotHeadings> headings;
  for (const std::string& text : keys.rows) headings.emplace_back(table, resolved(known, "--rows", text));
  const PivotHeadings across(table, resolved(known, "--pivot", keys.across));
  for (const PivotHeadings& heading : headings) {
    if (heading.key() == across.key() || std::ranges::count(pivot.row_keys, heading.key()) > 0)
      throw Error(Complaint{.found = fmt::format("--rows, --pivot: \"{}\" is named twice", heading.key())});
    pivot.row_keys.push_back(heading.key());
  }
  pivot.across = across.key();
  std::vector<std::string> headed = pivot.row_keys;
  headed.push_back(pivot.across);
  std::ranges::transform(headed, headed.begin(), parameter_of);
  pivot.hidden = hidden_text(table, headed);

  // By what they are sorted by.
  std::map<std::string, std::string, ByValue> columns;
  std::map<std::vector<std::string>, std::vector<std::string>, ByValue> lines;
  const auto values_of = [&](const Row& row) {
    return names_of(headings, [&](const PivotHeadings& heading) { return heading.of(row); });
  };
  const auto ranks_of = [&](const Row& row) {
    return names_of(headings, [&](const PivotHeadings& heading) { return heading.rank(row); });
  };
  for (const Row& row : table.rows) {
    columns.emplace(across.rank(row), across.of(row));
    lines.emplace(ranks_of(row), values_of(row));
    pivot.shares = pivot.shares && (!row.result || row.result->share);
  }
  for (const auto& [rank, value] : columns) pivot.columns.push_back(value);
  for (const auto& [ranks, values] : lines)
    pivot.lines.push_back({.values = values, .cells = std::vector<const Row*>(columns.size(), nullptr)});
  for (const Row& row : table.rows) {
    const auto line = std::ranges::find(pivot.lines, values_of(row), &PivotLine::values);
    const std::string column = across.of(row);
    const Row*& cell = line->cells[static_cast<std::size_t>(
        std::distance(pivot.columns.begin(), std::ranges::find(pivot.columns, column)))];
    if (cell != nullptr) reject_shared_cell(*line, column, *cell, row);
    cell = &row;
  }
  return pivot;
}

}  // namespace fedarena::results
