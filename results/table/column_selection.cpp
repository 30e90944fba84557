#include "results/table/column_selection.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

namespace fedarena::results {
namespace {

constexpr std::array<std::pair<const char*, TableColumn>, 15> kColumns = {
    {{"rounds", TableColumn::kRounds},
     {"seeds", TableColumn::kSeeds},
     {"accuracy", TableColumn::kResult},
     {"clients", TableColumn::kClients},
     {"epsilon", TableColumn::kEpsilon},
     {"attacks", TableColumn::kAttacks},
     {"attack-rates", TableColumn::kAttackRates},
     {"examples", TableColumn::kExamples},
     {"gradients", TableColumn::kGradients},
     {"operations", TableColumn::kOperations},
     {"uplink", TableColumn::kUplink},
     {"downlink", TableColumn::kDownlink},
     {"total-uplink", TableColumn::kTotalUplink},
     {"total-downlink", TableColumn::kTotalDownlink},
     {"seconds", TableColumn::kSeconds}}};

TableColumn parse_column(const std::string& name) {
  const auto found = std::ranges::find(kColumns, name, &std::pair<const char*, TableColumn>::first);
  if (found != kColumns.end()) return found->second;
  throw unknown_name(fmt::format("--columns: \"{}\" is unknown", name), name, column_names());
}

}  // namespace

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const auto& [name, column] : kColumns) names.emplace_back(name);
  return names;
}

Selection parse_selection(const std::string& text) {
  Selection selection;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
    const TableColumn column = parse_column(name);
    if (shows(selection, column))
      throw Error(Complaint{.found = fmt::format("--columns: \"{}\" is named twice", name),
                            .allowed = join_names(column_names())});
    selection.push_back(column);
    begin = end + 1;
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

bool shows(const Selection& selection, TableColumn column) {
  return std::ranges::find(selection, column) != selection.end();
}

}  // namespace fedarena::results
