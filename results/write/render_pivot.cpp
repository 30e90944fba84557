#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/record/claim_text.hpp"
#include "results/text/text.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
namespace {

bool has_published(const Pivot& pivot, std::size_t column) {
  return std::ranges::any_of(pivot.lines, [&](const PivotLine& line) {
    return line.cells[column] != nullptr && line.cells[column]->published;
  });
}

bool has_claim(const Table& table) { return any_has(table, &Row::privacy); }

// " (inf)" behind the number of a row without a finite epsilon, beside rows with one or not.
std::string unbounded(const Table& table, const Row& row) {
  if (!has_claim(table) || (row.privacy && is_finite(*row.privacy))) return "";
  return fmt::format(" ({})", row.privacy ? claim_text(row.privacy->rdp) : "none");
}

// "1.00 to 8.00 by RDP": the finite ones of an accountant.
std::string epsilon_range(const Table& table, std::optional<Claim> PrivacyClaim::*accountant,
                          const char* name) {
  std::vector<std::pair<double, const char*>> epsilons;  // with their marks
  for (const Row& row : table.rows) {
    if (!row.privacy || !is_finite((*row.privacy).*accountant)) continue;
    epsilons.emplace_back(*((*row.privacy).*accountant)->epsilon, row.privacy->assumed ? kAssumedMark : "");
  }
  if (epsilons.empty()) return "";
  const auto text = [](const auto& epsilon) { return epsilon_text(epsilon.first) + epsilon.second; };
  const auto [least, most] =
      std::ranges::minmax(epsilons, {}, [](const auto& epsilon) { return epsilon.first; });
  const std::string first = text(least), last = text(most);
  return fmt::format("{}{} by {}", first == last ? "" : first + " to ", last, name);
}

// What epsilons the numbers cost.
std::string epsilon_sentences(const Table& table) {
  std::string text;
  for (const std::string& range :
       {epsilon_range(table, &PrivacyClaim::rdp, "RDP"), epsilon_range(table, &PrivacyClaim::pld, "PLD")}) {
    if (!range.empty()) text += (text.empty() ? "" : ", ") + range;
  }
  if (!text.empty()) text = fmt::format(" Epsilon{}: {}.", shared_terms(table), text);
  if (std::ranges::any_of(table.rows, [&](const Row& row) { return !unbounded(table, row).empty(); }))
    text += " In parentheses: epsilon where it is not finite.";
  return text;
}

// What the numbers are, and what is bold.
std::string pivot_legend(const Table& table, const Pivot& pivot) {
  std::string text = legend(table, {TableColumn::kResult});
  const bool some =
      std::ranges::any_of(table.rows, [](const Row& row) { return row.result && row.result->share; });
  if (some) text += pivot.shares ? " In percent." : " Accuracies are in percent.";
  text += fmt::format(" Columns: {}.", pivot.across);
  if (has_claim(table)) text += epsilon_sentences(table);
  return text;
}

}  // namespace

ReaderTable reader_table(const Table& table, const Pivot& pivot) {
  if (table.rows.empty()) return reader_table(table);
  std::vector<Column<PivotLine>> columns;
  for (std::size_t i = 0; i < pivot.row_keys.size(); ++i)
    columns.push_back(
        {pivot.row_keys[i], Align::kText, [i](const PivotLine& line) { return line.values[i]; }});
  for (std::size_t i = 0; i < pivot.columns.size(); ++i) {
    columns.push_back({pivot.columns[i], Align::kPoint, [i, &table](const PivotLine& line) -> Cell {
                         const Row* row = line.cells[i];
                         if (row == nullptr || !row->result) return kNothing;
                         Cell cell = result_cell(*row->result, table.plus_minus);
                         cell.text = unbounded(table, *row);
                         cell.best = row->best;
                         return cell;
                       }});
    if (!has_published(pivot, i)) continue;
    columns.push_back({pivot.columns[i] + ", published", Align::kPoint, [i](const PivotLine& line) -> Cell {
                         const Row* row = line.cells[i];
                         return row != nullptr && row->published ? published_cell(*row->published) : kNothing;
                       }});
  }
  return {.caption = caption(table),
          .grid = cell_grid(columns, pivot.lines),
          .legend = pivot_legend(table, pivot),
          .notes = table.notes};
}

std::string render_pivot_csv(const Table& table, const Pivot& pivot) {
  if (table.rows.empty()) return "";
  std::vector<std::string> fields = pivot.row_keys;
  for (std::size_t i = 0; i < pivot.columns.size(); ++i) {
    for (const char* what : {"mean", "std", "half_width_95", "seeds"})
      fields.push_back(fmt::format("{} {}", pivot.columns[i], what));
    if (has_published(pivot, i)) fields.push_back(pivot.columns[i] + " published");
  }
  std::string text = csv_line(fields);
  for (const PivotLine& line : pivot.lines) {
    fields = line.values;
    for (std::size_t i = 0; i < pivot.columns.size(); ++i) {
      const Row* row = line.cells[i];
      const bool known = row != nullptr && row->result;
      fields.push_back(known ? exact_number(row->result->spread.mean) : "");
      fields.push_back(known ? csv_number(row->result->spread.std) : "");
      fields.push_back(known ? csv_number(row->result->spread.half_width) : "");
      fields.push_back(row != nullptr ? std::to_string(row->seeds.size()) : "");
      if (!has_published(pivot, i)) continue;
      const std::optional<Published> published = row != nullptr ? raw_published(*row) : std::nullopt;
      fields.push_back(published ? exact_number(published->mean) : "");
    }
    text += csv_line(fields);
  }
  return text;
}

}  // namespace fedarena::results
