#include "results/write/render_html.hpp"

#include <fmt/format.h>

#include "results/write/columns.hpp"
#include "results/text/html.hpp"
#include "results/write/html_table.hpp"

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

}  // namespace

std::string render_html(const Table& table, const Selection& selection) {
  const Selection shown = selection.empty() ? default_selection(table) : selection;
  std::string html = kHead;
  if (table.rows.empty()) {
    html += html_element("p", "No finished run.") + "\n";
  } else {
    HtmlTable element =
        from_markdown(reader_grid(table, shown, &Column::markdown_heading, &Column::markdown));
    if (const std::string common = caption(table); !common.empty()) element.caption = common + ".";
    html += to_html(element) + html_element("p", legend(table, shown)) + "\n";
  }
  if (table.notes.empty()) return html;
  html += "<p>Notes:</p>\n<ul>\n";
  for (const std::string& note : table.notes) html += html_element("li", note) + "\n";
  return html + "</ul>\n";
}

}  // namespace fedarena::results
