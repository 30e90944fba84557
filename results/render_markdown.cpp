#include <algorithm>

#include <fmt/format.h>

#include "results/columns.hpp"
#include "results/render.hpp"
#include "results/text.hpp"

namespace fedarena::results {
namespace {

using Cells = std::vector<std::vector<std::string>>;

Cells cells_of(const Table& table, const std::vector<Column>& columns) {
  Cells cells(1);
  for (const Column& column : columns) cells.front().push_back(column.markdown_heading);
  for (const Row& row : table.rows) {
    auto& line = cells.emplace_back();
    for (const Column& column : columns) line.push_back(column.markdown(row));
  }
  return cells;
}

std::string grid(const Table& table, const Selection& selection) {
  const std::vector<Column> columns = reader_columns(table, selection);
  const Cells cells = cells_of(table, columns);
  const std::vector<std::size_t> widths = column_widths(cells);
  std::string text;
  for (std::size_t line = 0; line < cells.size(); ++line) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += fmt::format("| {} ", padded(cells[line][i], widths[i], columns[i].right_aligned));
    }
    text += "|\n";
    if (line > 0) continue;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string dashes(widths[i] + 1, '-');
      text += columns[i].right_aligned ? fmt::format("|{}:", dashes) : fmt::format("|:{}", dashes);
    }
    text += "|\n";
  }
  return text;
}

}  // namespace

std::string render_markdown(const Table& table, const Selection& selection) {
  const Selection shown = selection.empty() ? default_selection(table) : selection;
  std::string text;
  const std::string common = caption(table);
  if (!common.empty()) text += common + ".\n\n";
  text += table.rows.empty() ? "No finished run.\n" : grid(table, shown) + "\n" + legend(table, shown) + "\n";
  if (!table.notes.empty()) text += "\nNotes:\n";
  for (const std::string& note : table.notes) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace fedarena::results
