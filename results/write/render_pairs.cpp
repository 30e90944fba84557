// Tables of pairs for readers.
#include "results/write/render_pairs.hpp"

#include <string_view>

#include <fmt/format.h>

#include "results/write/cell_grid.hpp"
#include "results/write/columns.hpp"
#include "results/compare/pair_columns.hpp"

namespace fedarena::results {
namespace {

std::string latex_cell(const PairColumn& column, const std::string& cell) {
  if (!column.is_formula || cell == "-") return latex_escaped(cell);
  constexpr std::string_view kSign = "±";
  const std::size_t at = cell.find(kSign);
  if (at == std::string::npos) return fmt::format("${}$", cell);
  return fmt::format("${}\\pm{}$", cell.substr(0, at), cell.substr(at + kSign.size()));
}

template <typename Escape, typename CellOf>
CellGrid grid_of(const Pairs& pairs, const Escape& escape, const CellOf& cell_of) {
  CellGrid grid{.right_aligned = {}, .lines = std::vector<std::vector<std::string>>(pairs.pairs.size() + 1)};
  for (const PairColumn& column : pair_columns(pairs)) {
    grid.right_aligned.push_back(column.right_aligned);
    grid.lines.front().push_back(escape(column.heading));
    for (std::size_t i = 0; i < column.cells.size(); ++i)
      grid.lines[i + 1].push_back(cell_of(column, column.cells[i]));
  }
  return grid;
}

}  // namespace

std::string render_pairs_markdown(const Pairs& pairs) {
  std::string text = pairs.caption.empty() ? "" : pairs.caption + ".\n\n";
  text += markdown_grid(grid_of(pairs, markdown_escaped, [](const PairColumn&, const std::string& cell) {
    return markdown_escaped(cell);
  }));
  text += fmt::format("\n{}\n", pairs_legend(pairs));
  if (!pairs.notes.empty()) text += "\nNotes:\n";
  for (const std::string& note : pairs.notes) text += fmt::format("- {}\n", note);
  return text;
}

std::string render_pairs_latex(const Pairs& pairs) {
  std::string text = fmt::format("\\begin{{table}}\n  \\centering\n  \\caption{{{}{}}}\n",
                                 pairs.caption.empty() ? "" : latex_escaped(pairs.caption) + ". ",
                                 latex_escaped(pairs_legend(pairs)));
  text += latex_grid(grid_of(pairs, latex_escaped, latex_cell));
  for (const std::string& note : pairs.notes)
    text += fmt::format("  \\par\\smallskip{{\\footnotesize Note: {}.\\par}}\n", latex_escaped(note));
  return text + "\\end{table}\n";
}

}  // namespace fedarena::results
