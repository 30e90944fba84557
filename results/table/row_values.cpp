#include "results/table/row_values.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/record/claim_text.hpp"
#include "results/record/sweep.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Other spellings of keys: of headings, of experiment files, of CSV.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSpellings = {
    {{"data set", "dataset"},
     {"data", "dataset"},
     {"experiment.name", "experiment"},
     {"epsilon_rdp", "epsilon"},
     {"n", "seeds"}}};

// What follows from the rest of a row.
constexpr std::array<std::string_view, 5> kDerived = {"parameters", "seeds", "epsilon", "epsilon_pld",
                                                      "clients"};

// Keeps the first value of a key.
class Values {
 public:
  void add(const std::string& key, const std::string& value) {
    if (!swept_value(values_, key)) values_.emplace_back(key, unquoted(value));
  }
  Sweep take() { return std::move(values_); }

 private:
  Sweep values_;
};

void add_privacy(const Row& row, Values& values) {
  values.add("policy", row.summary().policy);
  if (!row.privacy) {
    for (const char* key : {"epsilon", "epsilon_pld"}) values.add(key, row.summary().policy);
    return;
  }
  values.add("epsilon", claim_text(row.privacy->rdp));
  values.add("epsilon_pld", claim_text(row.privacy->pld));
  values.add("delta", short_number(row.privacy->settings.delta));
  values.add("unit", row.privacy->unit);
  values.add("adjacency", row.privacy->adjacency);
}

}  // namespace

Sweep row_values(const Row& row) {
  Values values;
  for (const SettingPart& part : kSettingParts) {
    const std::string& choice = row.setting.*part.member;
    values.add(std::string(part.key), choice);
    if (part.chosen.empty()) continue;
    values.add(std::string(part.chosen), name_of_choice(choice));
    for (const auto& [name, value] : settings_of_choice(choice))
      values.add(fmt::format("{}.{}", part.section, name), plain_value(value));
  }
  for (const auto& [path, value] : row.setting.sweep) values.add(path, value);
  values.add("label", row.label);
  for (const auto& [key, value] : row.own_sweep) values.add(key, value);
  const Summary& summary = row.summary();
  values.add("algorithm", summary.algorithm);
  for (const auto& [name, value] : summary.algorithm_parameters) values.add(name, plain_value(value));
  values.add("rounds", std::to_string(summary.rounds));
  values.add("clients", std::to_string(summary.clients));
  values.add("parameters", std::to_string(summary.parameters));
  values.add("seeds", std::to_string(row.seeds.size()));
  add_privacy(row, values);
  return values.take();
}

std::optional<std::string> row_value(const Row& row, const std::string& key) {
  const Sweep values = row_values(row);
  const auto value = swept_value(values, key);
  return value ? value : swept_value(values, parameter_of(key));  // which no grid gave
}

std::vector<std::string> row_keys(const Table& table) {
  std::set<std::string, NaturalOrder> keys;
  for (const Row& row : table.rows) {
    for (const auto& [key, value] : row_values(row)) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

std::optional<std::string> find_row_key(const std::vector<std::string>& keys, const std::string& text) {
  const auto known = [&](const std::string& key) { return contains(keys, key); };
  if (known(text)) return text;
  for (const auto& [spelling, key] : kSpellings) {
    if (text == spelling && known(std::string(key))) return std::string(key);
  }
  for (const std::string_view path : {kAlgorithmPaths, kTrainingPaths}) {
    if (text.starts_with(path) && known(text.substr(path.size()))) return text.substr(path.size());
  }
  std::vector<std::string> ends;
  for (const std::string& key : keys) {
    if (key.ends_with("." + text)) ends.push_back(key);
  }
  if (ends.size() > 1) {
    throw Error(Complaint{.found = fmt::format("\"{}\" is the end of several keys", text),
                          .allowed = join_names(ends)});
  }
  if (ends.empty()) return std::nullopt;
  return ends.front();
}

void reject_row_key(const std::vector<std::string>& keys, const std::string& text) {
  throw unknown_name(fmt::format("no row has a key \"{}\"", text), text, keys);
}

bool has_value(const Row& row, const std::string& key, const std::string& value) {
  const std::optional<std::string> own = row_value(row, key);
  if (!own) return false;
  if (*own == value || (is_choice(key) && name_of_choice(*own) == value)) return true;
  const std::optional<double> left = as_number(*own), right = as_number(value);
  return left && right && *left == *right;
}

std::vector<std::string> keys_that_differ(const Row& left, const Row& right) {
  const std::array<Sweep, 2> values = {row_values(left), row_values(right)};
  const std::vector<std::string> differing = differing_keys(values);
  std::set<std::string> keys(differing.begin(), differing.end());
  for (const std::string_view key : kDerived) keys.erase(std::string(key));
  if (keys.contains("label")) {
    // Other algorithms have other parameters.
    keys.erase("algorithm");
    for (const Row* row : {&left, &right}) {
      for (const auto& [name, value] : row->summary().algorithm_parameters) keys.erase(name);
      for (const auto& [key, value] : row->own_sweep) keys.erase(key);
    }
  }
  for (const SettingPart& part : kSettingParts) {
    const bool exact = std::ranges::any_of(
        keys, [&](const std::string& key) { return key.starts_with(std::string(part.section) + "."); });
    if (exact) keys.erase(std::string(part.key));
  }
  return {keys.begin(), keys.end()};
}

}  // namespace fedarena::results
