#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/write/columns.hpp"
#include "results/text/csv_line.hpp"
#include "results/text/number_format.hpp"
#include "results/table/pivot.hpp"
#include "results/write/render.hpp"
#include "results/write/siunitx.hpp"

namespace fedarena::results {
namespace {

bool has_published(const Pivot& pivot, std::size_t column) {
  return std::ranges::any_of(pivot.lines, [&](const PivotLine& line) {
    return line.cells[column] != nullptr && line.cells[column]->published;
  });
}

// How a typesetting writes the parts of a matrix.
struct Typesetting {
  std::function<std::string(const std::string&)> text;
  std::function<std::string(const std::string&)> heading;  // of numbers
  std::function<std::string(const std::string&, bool best)> number;
};

CellGrid grid_of(const Table& table, const Pivot& pivot, const Typesetting& set) {
  CellGrid grid{.right_aligned = {}, .lines = std::vector<std::vector<std::string>>(pivot.lines.size() + 1)};
  for (std::size_t i = 0; i < pivot.row_keys.size(); ++i) {
    grid.right_aligned.push_back(false);
    grid.lines.front().push_back(set.text(pivot.row_keys[i]));
    for (std::size_t j = 0; j < pivot.lines.size(); ++j)
      grid.lines[j + 1].push_back(set.text(pivot.lines[j].values[i]));
  }
  const auto add = [&](const std::string& heading, const std::function<std::string(const Row&)>& text_of,
                       bool marked, std::size_t column) {
    grid.right_aligned.push_back(true);
    grid.lines.front().push_back(set.heading(heading));
    for (std::size_t j = 0; j < pivot.lines.size(); ++j) {
      const Row* row = pivot.lines[j].cells[column];
      grid.lines[j + 1].push_back(row == nullptr ? set.number(kNothing, false)
                                                 : set.number(text_of(*row), marked && row->best));
    }
  };
  for (std::size_t i = 0; i < pivot.columns.size(); ++i) {
    add(
        pivot.columns[i],
        [&](const Row& row) { return row.result ? result_text(*row.result, table.plus_minus) : kNothing; },
        true, i);
    if (!has_published(pivot, i)) continue;
    add(
        pivot.columns[i] + ", published",
        [](const Row& row) { return row.published ? published_text(*row.published) : kNothing; }, false, i);
  }
  return grid;
}

// What the numbers are, and what is bold.
std::string pivot_legend(const Table& table, const Pivot& pivot) {
  std::string text = legend(table, {Shown::kResult});
  if (pivot.shares) text += " In percent.";
  text += fmt::format(" Columns: {}.", pivot.across);
  const bool best = std::ranges::any_of(table.rows, &Row::best);
  if (best) text += " Bold: the best of its setting.";
  if (any_private(table)) text += " Epsilons are in the table without --pivot.";
  return text;
}

}  // namespace

std::string render_pivot_markdown(const Table& table, const Pivot& pivot) {
  if (table.rows.empty()) return render_markdown(table);
  const Typesetting set{
      .text = [](const std::string& text) { return markdown_escaped(text); },
      .heading = [](const std::string& text) { return markdown_escaped(text); },
      .number = [](const std::string& text, bool best) { return best ? fmt::format("**{}**", text) : text; }};
  std::string text;
  const std::string common = caption(table);
  if (!common.empty()) text += common + ".\n\n";
  text += markdown_grid(grid_of(table, pivot, set)) + "\n" + pivot_legend(table, pivot) + "\n";
  if (!table.notes.empty()) text += "\nNotes:\n";
  for (const std::string& note : table.notes) text += fmt::format("- {}\n", note);
  return text;
}

std::string render_pivot_latex(const Table& table, const Pivot& pivot) {
  if (table.rows.empty()) return render_latex(table);
  const Typesetting set{
      .text = [](const std::string& text) { return latex_escaped(text); },
      .heading = [](const std::string& text) { return fmt::format("{{{}}}", latex_escaped(text)); },
      .number = [](const std::string& text, bool best) { return siunitx_cell(text, best); }};
  CellGrid grid = grid_of(table, pivot, set);
  for (std::size_t i = 0; i < grid.right_aligned.size(); ++i) {
    std::vector<std::string> cells;
    for (std::size_t line = 1; line < grid.lines.size(); ++line) cells.push_back(grid.lines[line][i]);
    grid.latex_columns.push_back(grid.right_aligned[i] ? siunitx_column(cells) : "l");
  }
  const std::string common = caption(table);
  std::string text = latex_opening(grid);
  text += fmt::format("  \\caption{{{}{}}}\n", common.empty() ? "" : latex_escaped(common) + ". ",
                      latex_escaped(pivot_legend(table, pivot)));
  text += latex_grid(grid);
  for (const std::string& note : table.notes) {
    text += fmt::format("  \\par\\smallskip{{\\footnotesize Note: {}.\\par}}\n", latex_escaped(note));
  }
  return text + "\\end{table}\n";
}

std::string render_pivot_csv(const Table& table, const Pivot& pivot) {
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
      const auto spread = row != nullptr && row->result ? std::optional(row->result->spread) : std::nullopt;
      fields.push_back(spread ? exact_number(spread->mean) : "");
      fields.push_back(spread ? csv_number(spread->std) : "");
      fields.push_back(spread ? csv_number(spread->half_width) : "");
      fields.push_back(row != nullptr ? std::to_string(row->seeds.size()) : "");
      if (!has_published(pivot, i)) continue;
      const double unit = row != nullptr && row->result && row->result->share ? 100 : 1;
      fields.push_back(row != nullptr && row->published ? exact_number(row->published->mean / unit) : "");
    }
    text += csv_line(fields);
  }
  return table.rows.empty() ? "" : text;
}

}  // namespace fedarena::results
