#include "results/write/html_table.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "results/text/html.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// As number_format.hpp writes them.
constexpr std::array<std::pair<std::string_view, double>, 10> kUnits = {{{" KiB", 1024.0},
                                                                         {" MiB", 1048576.0},
                                                                         {" GiB", 1073741824.0},
                                                                         {" TiB", 1099511627776.0},
                                                                         {" k", 1e3},
                                                                         {" M", 1e6},
                                                                         {" G", 1e9},
                                                                         {" T", 1e12},
                                                                         {" P", 1e15},
                                                                         {" E", 1e18}}};

// Markdown puts a backslash before every bar, and before nothing else.
std::string without_bars_escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '|' && !result.empty()) result.pop_back();
    result += letter;
  }
  return result;
}

HtmlCell cell_of(const std::string& markdown, bool number) {
  constexpr std::string_view kBold = "**";
  const std::string text = without_bars_escaped(markdown);
  const bool strong =
      number && text.size() > 2 * kBold.size() && text.starts_with(kBold) && text.ends_with(kBold);
  if (!strong) return {.text = text};
  return {.text = text.substr(kBold.size(), text.size() - 2 * kBold.size()), .strong = true};
}

// Cells of more bytes are shown in several lines.
constexpr std::size_t kLongCell = 30;

std::string class_of(const HtmlTable& table, std::size_t column, const std::string& text) {
  if (table.right_aligned[column]) return " class=\"number\"";
  return text.size() > kLongCell ? " class=\"long\"" : "";
}

std::string cell_html(const HtmlTable& table, const HtmlCell& cell, std::size_t column) {
  const std::string name = column == 0 ? "th scope=\"row\"" : "td";
  std::string key;
  if (table.sortable && table.right_aligned[column]) {
    if (const std::optional<double> number = sort_number(cell.text)) {
      key = fmt::format(" data-key=\"{}\"", exact_number(*number));
    }
  }
  const std::string text = cell.strong ? html_element("strong", cell.text) : html_escaped(cell.text);
  return fmt::format("<{}{}{}>{}</{}>", name, class_of(table, column, cell.text), key, text,
                     column == 0 ? "th" : "td");
}

}  // namespace

HtmlTable from_markdown(const CellGrid& grid) {
  HtmlTable table{.right_aligned = grid.right_aligned};
  for (const std::string& heading : grid.lines.front())
    table.headings.push_back(without_bars_escaped(heading));
  for (std::size_t line = 1; line < grid.lines.size(); ++line) {
    std::vector<HtmlCell>& row = table.rows.emplace_back();
    for (std::size_t column = 0; column < grid.lines[line].size(); ++column) {
      row.push_back(cell_of(grid.lines[line][column], grid.right_aligned[column]));
    }
  }
  return table;
}

std::string to_html(const HtmlTable& table) {
  std::string html = fmt::format("<table{}>\n", table.sortable ? " class=\"sortable\"" : "");
  if (!table.caption.empty()) html += html_element("caption", table.caption) + "\n";
  html += "<thead>\n<tr>";
  for (std::size_t column = 0; column < table.headings.size(); ++column) {
    html += html_element("th", table.headings[column], "scope=\"col\"" + class_of(table, column, ""));
  }
  html += "</tr>\n</thead>\n<tbody>\n";
  for (const std::vector<HtmlCell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) html += cell_html(table, row[column], column);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::optional<double> sort_number(std::string_view text) {
  constexpr std::string_view kAtLeast = "≥ ";
  if (text.starts_with(kAtLeast)) text.remove_prefix(kAtLeast.size());
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const auto& [unit, factor] : kUnits) {
    if (text == unit) return number * factor;
  }
  return number;
}

}  // namespace fedarena::results
