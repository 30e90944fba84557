#include <fmt/format.h>

#include "results/columns.hpp"
#include "results/render.hpp"

namespace fedarena::results {
namespace {

std::string line_of(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) {
    text += text.empty() ? "    " : " & ";
    text += cell;
  }
  return text + " \\\\\n";
}

std::string tabular(const Table& table, const Selection& selection) {
  const std::vector<Column> columns = reader_columns(table, selection);
  std::string alignment;
  std::vector<std::string> headings;
  for (const Column& column : columns) {
    alignment += column.right_aligned ? 'r' : 'l';
    headings.push_back(column.latex_heading);
  }
  std::string text = fmt::format("  \\begin{{tabular}}{{{}}}\n    \\toprule\n", alignment);
  text += line_of(headings) + "    \\midrule\n";
  for (const Row& row : table.rows) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.latex(row));
    text += line_of(cells);
  }
  return text + "    \\bottomrule\n  \\end{tabular}\n";
}

}  // namespace

std::string render_latex(const Table& table, const Selection& selection) {
  if (table.rows.empty()) {
    std::string text = "% No finished run.\n";
    for (const std::string& note : table.notes) text += fmt::format("% {}\n", note);
    return text;
  }
  const Selection shown = selection.empty() ? default_selection(table) : selection;
  std::string text = "\\begin{table}\n  \\centering\n";
  const std::string common = caption(table);
  text += fmt::format("  \\caption{{{}{}}}\n", common.empty() ? "" : latex_escaped(common) + ". ",
                      latex_escaped(legend(table, shown)));
  text += tabular(table, shown);
  for (const std::string& note : table.notes) {
    text += fmt::format("  \\par\\smallskip{{\\footnotesize Note: {}.\\par}}\n", latex_escaped(note));
  }
  return text + "\\end{table}\n";
}

}  // namespace fedarena::results
