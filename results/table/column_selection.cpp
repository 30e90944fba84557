#include "results/table/column_selection.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

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

}  // namespace

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
