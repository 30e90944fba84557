#include <fmt/format.h>

#include "results/text/markup.hpp"
#include "results/text/text.hpp"
#include "results/write/writers.hpp"

namespace fedarena::results {
namespace {

std::string markdown_cell(const Cell& cell) {
  const std::string text = markdown_escaped(plain_text(cell));
  return cell.best ? fmt::format("**{}**", text) : text;
}

std::string markdown_grid(const CellGrid& grid) {
  std::vector<std::vector<std::string>> lines(grid.front().cells.size() + 1);
  for (const CellColumn& column : grid) {
    lines.front().push_back(markdown_escaped(column.heading.text));
    for (std::size_t i = 0; i < column.cells.size(); ++i)
      lines[i + 1].push_back(markdown_cell(column.cells[i]));
  }
  const std::vector<std::size_t> widths = column_widths(lines);
  std::string text, rule;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const std::string dashes(widths[i] + 1, '-');
    rule += grid[i].align == Align::kText ? "|:" + dashes : "|" + dashes + ":";
  }
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < grid.size(); ++i)
      text += fmt::format("| {} ", padded(line[i], widths[i], grid[i].align != Align::kText));
    text += "|\n";
    if (&line == &lines.front()) text += rule + "|\n";
  }
  return text;
}

}  // namespace

std::string to_markdown(const ReaderTable& table) {
  std::string text = table.caption.empty() ? "" : table.caption + ".\n\n";
  text += table.grid.empty() ? "No finished run.\n" : markdown_grid(table.grid) + "\n" + table.legend + "\n";
  if (!table.notes.empty()) text += "\nNotes:\n";
  for (const std::string& note : table.notes) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace fedarena::results
