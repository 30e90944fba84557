#include <fmt/format.h>

#include "results/write/columns.hpp"
#include "results/write/render.hpp"
#include "results/write/siunitx.hpp"

namespace fedarena::results {
std::string render_latex(const Table& table, const Selection& selection) {
  if (table.rows.empty()) {
    std::string text = "% No finished run.\n";
    for (const std::string& note : table.notes) text += fmt::format("% {}\n", note);
    return text;
  }
  const Selection shown = selection.empty() ? default_selection(table) : selection;
  const CellGrid grid = reader_grid(table, shown, &Column::latex_heading, &Column::latex);
  std::string text = latex_opening(grid);
  const std::string common = caption(table);
  text += fmt::format("  \\caption{{{}{}}}\n", common.empty() ? "" : latex_escaped(common) + ". ",
                      latex_escaped(legend(table, shown)));
  text += latex_grid(grid);
  for (const std::string& note : table.notes) {
    text += fmt::format("  \\par\\smallskip{{\\footnotesize Note: {}.\\par}}\n", latex_escaped(note));
  }
  return text + "\\end{table}\n";
}

}  // namespace fedarena::results
