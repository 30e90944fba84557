#include "results/write/cell_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/text/text.hpp"

namespace fedarena::results {

std::string markdown_grid(const CellGrid& grid) {
  const std::vector<std::size_t> widths = column_widths(grid.lines);
  std::string text;
  for (std::size_t line = 0; line < grid.lines.size(); ++line) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += fmt::format("| {} ", padded(grid.lines[line][i], widths[i], grid.right_aligned[i]));
    text += "|\n";
    if (line > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string dashes(widths[i] + 1, '-');
      text += grid.right_aligned[i] ? fmt::format("|{}:", dashes) : fmt::format("|:{}", dashes);
    }
    text += "|\n";
  }
  return text;
}

std::string latex_grid(const CellGrid& grid) {
  std::string alignment;
  for (std::size_t i = 0; i < grid.right_aligned.size(); ++i) {
    alignment += !grid.latex_columns.empty() ? grid.latex_columns[i] : grid.right_aligned[i] ? "r" : "l";
  }
  std::string text = fmt::format("  \\begin{{tabular}}{{{}}}\n    \\toprule\n", alignment);
  for (std::size_t line = 0; line < grid.lines.size(); ++line) {
    text += fmt::format("    {} \\\\\n", fmt::join(grid.lines[line], " & "));
    if (line == 0) text += "    \\midrule\n";
  }
  return text + "    \\bottomrule\n  \\end{tabular}\n";
}

}  // namespace fedarena::results
