#include <fmt/format.h>

#include "results/text/markup.hpp"
#include "results/text/text.hpp"
#include "results/write/writers.hpp"

namespace fedarena::results {
namespace {

constexpr const char* kHead =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<title>fedarena table</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }\n"
    "table { border-collapse: collapse; border: solid; border-width: 2px 0; }\n"
    "caption { text-align: left; padding: 0.5em 0; }\n"
    "th, td { padding: 0.2em 0.7em; text-align: left; font-weight: normal; white-space: nowrap; }\n"
    "thead th { border-bottom: 1px solid; }\n"
    ".long { white-space: normal; min-width: 16em; }\n"
    ".number { text-align: right; font-variant-numeric: tabular-nums; }\n"
    "</style>\n";

std::string cell_html(const CellColumn& column, const Cell& cell, bool sortable, bool names_row) {
  constexpr std::size_t kLongCell = 30;  // cells of more bytes are shown in several lines
  const bool number = column.align != Align::kText;
  const std::string text = one_line(plain_text(cell));
  std::string attributes = number ? " class=\"number\"" : text.size() > kLongCell ? " class=\"long\"" : "";
  if (sortable && number && cell.value)
    attributes += fmt::format(" data-key=\"{}\"", exact_number(*cell.value));
  return fmt::format("<{}{}>{}</{}>", names_row ? "th scope=\"row\"" : "td", attributes,
                     cell.best ? html_element("strong", text) : html_escaped(text), names_row ? "th" : "td");
}

}  // namespace

std::string to_html(const HtmlTable& table) {
  std::string html = fmt::format("<table{}>\n", table.sortable ? " class=\"sortable\"" : "");
  if (!table.caption.empty()) html += html_element("caption", table.caption) + "\n";
  html += "<thead>\n<tr>";
  for (const CellColumn& column : table.grid)
    html += html_element("th", one_line(column.heading.text),
                         column.align == Align::kText ? "scope=\"col\"" : "scope=\"col\" class=\"number\"");
  html += "</tr>\n</thead>\n<tbody>\n";
  for (std::size_t row = 0; row < table.grid.front().cells.size(); ++row) {
    html += "<tr>";
    for (const CellColumn& column : table.grid)
      html += cell_html(column, column.cells[row], table.sortable, &column == &table.grid.front());
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string to_html_page(const ReaderTable& table) {
  std::string html = kHead;
  if (table.grid.empty()) {
    html += html_element("p", "No finished run.") + "\n";
  } else {
    html += to_html({.caption = table.caption.empty() ? "" : table.caption + ".", .grid = table.grid}) +
            html_element("p", table.legend) + "\n";
  }
  if (table.notes.empty()) return html;
  html += "<p>Notes:</p>\n<ul>\n";
  for (const std::string& note : table.notes) html += html_element("li", note) + "\n";
  return html + "</ul>\n";
}

}  // namespace fedarena::results
