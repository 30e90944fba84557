#include "results/table/column_selection.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/measures/catalogue.hpp"
#include "results/record/json_fields.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// In the order of TableColumn.
constexpr std::array<const char*, 17> kNames = {
    "rounds",      "seeds",    "accuracy",     "clients",        "epsilon",   "epsilon-rdp",
    "epsilon-pld", "attacks",  "attack-rates", "examples",       "gradients", "operations",
    "uplink",      "downlink", "total-uplink", "total-downlink", "seconds"};

TableColumn parse_column(const std::string& name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<TableColumn>(found - kNames.begin());
  throw unknown_name(fmt::format("--columns: \"{}\" is unknown", name), name, column_names());
}

// In one spelling.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    letters += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

void add_fields(const Json& record, std::set<std::string>& names) {
  for (const auto& [name, value] : record.items()) {
    names.insert(plain(name));
    if (value.is_object()) add_fields(value, names);
  }
}

// What tables, exports and records call their own.
std::set<std::string> own_names() {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    for (const std::string_view name : {entry.name, entry.field, entry.column}) names.insert(plain(name));
  }
  for (const std::string& name : column_names()) names.insert(plain(name));
  add_fields(to_json(RoundRecord{}), names);
  Json summary = to_json(Summary{});
  append_privacy(summary, PrivacyClaim{});
  add_fields(summary, names);
  return names;
}

}  // namespace

bool is_reserved(std::string_view name) {
  static const std::set<std::string> kOwnNames = own_names();
  const std::string asked = plain(name);
  return asked.find("epsilon") != std::string::npos || find_quantity(asked) || kOwnNames.contains(asked);
}

std::vector<std::string> column_names() { return {kNames.begin(), kNames.end()}; }

Selection parse_selection(const std::string& text) {
  Selection selection;
  for (const std::string_view part : split_at_commas(text)) {
    const std::string name(part);
    const TableColumn column = parse_column(name);
    if (shows(selection, column))
      throw Error(Complaint{.found = fmt::format("--columns: \"{}\" is named twice", name),
                            .allowed = join_names(column_names())});
    selection.push_back(column);
  }
  return selection;
}

Selection default_selection(const Table& table) {
  Selection selection = {TableColumn::kRounds, TableColumn::kSeeds, TableColumn::kResult};
  const auto tells_of_clients = [](const Row& row) { return !row.clients_tested.empty(); };
  if (std::ranges::any_of(table.rows, tells_of_clients)) selection.push_back(TableColumn::kClients);
  selection.push_back(TableColumn::kEpsilon);
  if (!attack_scores(table).empty()) selection.push_back(TableColumn::kAttacks);
  for (const TableColumn column : {TableColumn::kUplink, TableColumn::kDownlink, TableColumn::kSeconds}) {
    selection.push_back(column);
  }
  return selection;
}

bool shows(const Selection& selection, TableColumn column) { return contains(selection, column); }

}  // namespace fedarena::results
