#include <fmt/format.h>

#include "results/write/columns.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
std::string render_markdown(const Table& table, const Selection& selection) {
  const Selection shown = selection.empty() ? default_selection(table) : selection;
  std::string text;
  const std::string common = caption(table);
  if (!common.empty()) text += common + ".\n\n";
  text += table.rows.empty()
              ? "No finished run.\n"
              : markdown_grid(reader_grid(table, shown, &Column::markdown_heading, &Column::markdown)) +
                    "\n" + legend(table, shown) + "\n";
  if (!table.notes.empty()) text += "\nNotes:\n";
  for (const std::string& note : table.notes) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace fedarena::results
