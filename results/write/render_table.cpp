// The columns of a table for readers.
#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "results/record/claim_text.hpp"
#include "results/table/notes.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
namespace {

using RowColumn = Column<Row>;
using RowColumns = std::vector<RowColumn>;

bool has_column(const RowColumns& columns, std::string_view heading) {
  return std::ranges::any_of(columns,
                             [&](const RowColumn& column) { return column.heading.text == heading; });
}

// A column in which the best row stands out; `belongs`: whether it is the column of such results.
RowColumn result_column(const std::string& heading, PlusMinus shown,
                        const std::function<bool(const Result&)>& belongs) {
  return {heading, Align::kPoint, [=](const Row& row) -> Cell {
            if (!row.result || !belongs(*row.result)) return kNothing;
            Cell cell = result_cell(*row.result, shown);
            cell.best = row.best;
            return cell;
          }};
}

void add_results(const Table& table, RowColumns& columns) {
  const auto add = [&](const std::string& heading, const std::function<bool(const Result&)>& belongs) {
    columns.push_back(result_column(heading, table.plus_minus, belongs));
  };
  if (table.metric) {
    add(heading(*table.metric), [](const Result&) { return true; });
  } else {
    if (any_accuracy(table))
      add(known_quantity("accuracy").heading, [](const Result& result) { return result.share; });
    if (any_regression(table))
      add(known_quantity("rmse").heading, [](const Result& result) { return !result.share; });
  }
  if (!any_has(table, &Row::published)) return;
  const bool shares = std::ranges::all_of(
      table.rows, [](const Row& row) { return !row.published || (row.result && row.result->share); });
  columns.push_back({shares ? "published (%)" : "published", Align::kPoint, [](const Row& row) {
                       return row.published ? published_cell(*row.published) : kNothing;
                     }});
}

void add_clients(const Table& table, RowColumns& columns) {
  for (const CatalogueEntry* column : client_columns()) {
    // Accuracies, errors where data are for regression, or both.
    if (!(column->unit == NumberUnit::kShare ? any_accuracy(table) : any_regression(table))) continue;
    columns.push_back(
        {std::string(column->heading), Align::kPoint, [=, shown = table.plus_minus](const Row& row) {
           const std::optional<Spread> spread = row.clients(column);
           return spread ? result_cell({*spread, column->unit == NumberUnit::kShare}, shown) : kNothing;
         }});
  }
}

// "AUC, loss": each measure of each score.
void add_attacks(const Table& table, std::span<const AttackMeasure> measures, RowColumns& columns) {
  for (const std::string& score : attack_scores(table)) {
    for (const AttackMeasure& measure : measures) {
      const std::string heading = fmt::format("{}, {}", score, measure.heading);
      if (has_column(columns, heading)) continue;  // as the table's metric
      columns.push_back(
          {heading, Align::kPoint, [=, &measure, shown = table.plus_minus](const Row& row) {
             const std::optional<Spread> spread = row.attacked(score, measure);
             return spread ? result_cell({*spread, measure.unit == NumberUnit::kShare}, shown) : kNothing;
           }});
    }
  }
}

// "2.79", "2.79†", "8.21 (as if 1.20*)": `member` and `as_if` are those of one accountant.
RowColumn epsilon_column(const std::string& accountant, std::optional<Claim> PrivacyClaim::*member,
                         std::optional<Claim> PrivacyClaim::*as_if) {
  const auto cell_of = [=](const Row& row) -> Cell {
    if (!row.privacy) return "none";
    const PrivacyClaim& claim = *row.privacy;
    const auto number = [](const Claim& value) { return claim_text(value); };
    const auto mark = [&](const Claim& value) { return assumption_mark(claim, value); };
    const Claim& own = *(claim.*member);
    std::string behind = mark(own);
    if (const auto& other = claim.*as_if)
      behind += fmt::format(" (as if {}{}{})", number(*other), mark(*other), kAsIfMark);
    return number_cell(number(own), "", behind);
  };
  return {{"epsilon (" + accountant + ")", true}, Align::kPoint, cell_of};
}

// A column of what rows with a claim state about it.
RowColumn claim_column(const char* heading, const std::function<std::string(const PrivacyClaim&)>& text) {
  return {heading, Align::kText, [text](const Row& row) -> Cell {
            const std::string known = row.privacy ? text(*row.privacy) : "";
            return known.empty() ? kNothing : known;
          }};
}

void add_privacy(const Table& table, RowColumns& columns) {
  if (!any_has(table, &Row::privacy)) {
    columns.push_back(
        {{"epsilon", true}, Align::kNumber, [](const Row& row) { return row.summary().policy; }});
    return;
  }
  columns.push_back(epsilon_column("RDP", &PrivacyClaim::rdp, &PrivacyClaim::as_if_rdp));
  columns.push_back(epsilon_column("PLD", &PrivacyClaim::pld, &PrivacyClaim::as_if_pld));
  if (any_has(table, &Row::epsilon_at_least)) {
    columns.push_back(
        {{"epsilon >=", true}, Align::kPoint, [shown = table.plus_minus](const Row& row) -> Cell {
           if (!row.epsilon_at_least) return kNothing;
           Spread bound = *row.epsilon_at_least;
           // As many digits as are printed: no lower bound is printed as more than it is.
           bound.mean = rounded_down(bound.mean, 4);
           return result_cell({bound, false}, shown);
         }});
  }
  if (claims_per_distance(table)) {
    columns.push_back({"epsilon / distance", Align::kPoint, [](const Row& row) -> Cell {
                         if (!row.privacy || !row.privacy->per_distance) return kNothing;
                         return number_cell(epsilon_text(*row.privacy->per_distance));
                       }});
  }
  for (const std::string& what : nominal_names(table)) {
    columns.push_back({fmt::format("nominal {}", what), Align::kPoint, [what](const Row& row) -> Cell {
                         const std::optional<double> value = nominal_of(row, what);
                         return value ? number_cell(fmt::format("{:.2f}", *value)) : Cell(kNothing);
                       }});
  }
  for (const ClaimTerm& term : claim_terms()) columns.push_back(claim_column(term.heading, term.text));
}

// Of one accountant alone; what all rows share of a claim stands in the legend.
void add_epsilon(const RowColumn& column, const Table& table, RowColumns& columns) {
  columns.push_back(column);
  for (const ClaimTerm& term : claim_terms()) {
    if (!has_column(columns, term.heading) && any_has(table, &Row::privacy) && !shared_term(table, term))
      columns.push_back(claim_column(term.heading, term.text));
  }
}

// Sorted by the least rounds of any seed.
Cell rounds_cell(const Row& row) {
  Cell cell = number_cell(rounds_done(row), "", is_stopped_early(row) ? kStoppedMark : "");
  cell.value = std::ranges::min_element(row.seeds, {}, &SeedResult::rounds_done)->rounds_done();
  return cell;
}

// A column of costs, some of which stay secret.
RowColumn cost_column(const char* heading, std::optional<double> Row::*member,
                      ScaledNumber (*scaled)(double)) {
  return {heading, Align::kNumber,
          [=](const Row& row) -> Cell { return row.*member ? scaled(*(row.*member)) : Cell(kNothing); }};
}

// A setting of the row's policy.
RowColumn policy_column(const char* heading, const char* key) {
  return {heading, Align::kText, [=](const Row& row) -> Cell {
            return plain_value(swept_value(row.summary().policy_settings, key).value_or(kNothing));
          }};
}

void add(TableColumn shown, const Table& table, RowColumns& columns) {
  switch (shown) {
    case TableColumn::kRounds:
      return columns.push_back({"rounds", Align::kPoint, rounds_cell});
    case TableColumn::kSeeds:
      return columns.push_back({"seeds", Align::kPoint, [](const Row& row) {
                                  return number_cell(std::to_string(row.seeds.size()));
                                }});
    case TableColumn::kResult:
      return add_results(table, columns);
    case TableColumn::kClients:
      return add_clients(table, columns);
    case TableColumn::kEpsilon:
      return add_privacy(table, columns);
    case TableColumn::kEpsilonRdp:
      return add_epsilon(epsilon_column("RDP", &PrivacyClaim::rdp, &PrivacyClaim::as_if_rdp), table, columns);
    case TableColumn::kEpsilonPld:
      return add_epsilon(epsilon_column("PLD", &PrivacyClaim::pld, &PrivacyClaim::as_if_pld), table, columns);
    case TableColumn::kNoise:
      return columns.push_back(policy_column("noise multiplier", "noise_multiplier"));
    case TableColumn::kClipNorm:
      return columns.push_back(policy_column("clip norm", "clip_norm"));
    case TableColumn::kAttacks:
      return add_attacks(table, attack_measures().first(1), columns);
    case TableColumn::kAttackRates:
      return add_attacks(table, attack_measures().subspan(1), columns);
    case TableColumn::kExamples:
      return columns.push_back(cost_column("examples", &Row::examples, scaled_count));
    case TableColumn::kGradients:
      return columns.push_back(cost_column("gradients", &Row::gradients, scaled_count));
    case TableColumn::kOperations:
      return columns.push_back({"operations", Align::kNumber, [](const Row& row) -> Cell {
                                  if (!row.operations) return kNothing;
                                  return {scaled_count(*row.operations), row.operations_at_least ? "≥ " : ""};
                                }});
    case TableColumn::kUplink:
      return columns.push_back(cost_column("uplink", &Row::uplink_bytes, scaled_bytes));
    case TableColumn::kDownlink:
      return columns.push_back(cost_column("downlink", &Row::downlink_bytes, scaled_bytes));
    case TableColumn::kTotalUplink:
      return columns.push_back(cost_column("total uplink", &Row::total_uplink_bytes, scaled_bytes));
    case TableColumn::kTotalDownlink:
      return columns.push_back(cost_column("total downlink", &Row::total_downlink_bytes, scaled_bytes));
    case TableColumn::kSeconds:
      return columns.push_back({"seconds", Align::kPoint, [](const Row& row) -> Cell {
                                  return row.seconds ? number_cell(human_seconds(*row.seconds)) : kNothing;
                                }});
  }
}

RowColumns columns_of(const Table& table, const Selection& selection) {
  RowColumns columns;
  for (const SettingPart& part : kSettingParts) {
    if (!varies(table, part)) continue;
    columns.push_back({std::string(part.name), Align::kText,
                       [member = part.member](const Row& row) { return row.setting.*member; }});
  }
  // What concerns one algorithm stands beside it.
  RowColumns own;
  for (const std::string& key : swept_keys(table)) {
    const bool shared = std::ranges::any_of(
        table.rows, [&](const Row& row) { return swept_value(row.setting.sweep, key).has_value(); });
    (shared ? columns : own).push_back({key, Align::kText, [key](const Row& row) {
                                          return swept_value(row.whole_sweep(), key).value_or(kNothing);
                                        }});
  }
  columns.push_back({"algorithm", Align::kText, [](const Row& row) { return row.label; }});
  columns.insert(columns.end(), own.begin(), own.end());
  for (const TableColumn shown : selection) add(shown, table, columns);
  return columns;
}

}  // namespace

ReaderTable reader_table(const Table& table, const Selection& selection) {
  ReaderTable result{.caption = caption(table), .notes = table.notes};
  if (table.rows.empty()) return result;
  const Selection shown = selection.empty() ? default_selection(table) : selection;
  result.grid = cell_grid(columns_of(table, shown), table.rows);
  result.legend = legend(table, shown);
  return result;
}

}  // namespace fedarena::results
