#include "results/write/writers.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/text/markup.hpp"
#include "results/text/text.hpp"

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

// What siunitx takes for a number here: no signs, no exponents, for tables have none.
bool is_decimal(std::string_view digits) {
  return !digits.empty() && digits.find_first_not_of("0123456789.") == std::string_view::npos;
}

// What follows the digits that siunitx aligns, in the braces that keep it from reading on.
std::string behind_digits(const Cell& cell) {
  const std::string odd = cell.spread.empty() || is_decimal(cell.spread) ? "" : " ± " + cell.spread;
  return odd.empty() && cell.text.empty() ? "" : fmt::format("{{{}}}", latex_escaped(odd + cell.text));
}

// `72.00 \pm 1.00`, `2.79{$^{\dagger}$}`; what is not a number stands in braces: `{-}`, `{$\infty$}`.
std::string point_cell(const Cell& cell) {
  const std::string weight = cell.best ? "\\bfseries " : "";
  if (is_decimal(cell.digits)) {
    const std::string spread = is_decimal(cell.spread) ? " \\pm " + cell.spread : "";
    return weight + cell.digits + spread + behind_digits(cell);
  }
  Cell rest = cell;
  rest.digits.clear();
  // A sign among numbers, but a word in notes.
  const std::string number = cell.digits == "inf" ? "$\\infty$" : latex_escaped(cell.digits);
  return fmt::format("{{{}{}{}}}", weight, number, latex_escaped(plain_text(rest)));
}

std::string formula_cell(const Cell& cell) {
  if (cell.digits.empty()) return latex_escaped(cell.text);
  return fmt::format("${}{}{}$", cell.digits, cell.spread.empty() ? "" : " \\pm ", cell.spread);
}

std::string latex_cell(const Cell& cell, Align align) {
  return align == Align::kPoint     ? point_cell(cell)
         : align == Align::kFormula ? formula_cell(cell)
                                    : latex_escaped(plain_text(cell));
}

std::string latex_heading(const CellColumn& column) {
  constexpr std::string_view kWord = "epsilon";
  const std::string_view text = column.heading.text;
  const std::string heading = column.heading.is_epsilon
                                  ? "$\\varepsilon$" + latex_escaped(text.substr(kWord.size()))
                                  : latex_escaped(text);
  return column.align == Align::kPoint ? fmt::format("{{{}}}", heading) : heading;
}

// How many digits a number has before and after its point, or the longest of several.
struct Digits {
  std::size_t whole = 0;
  std::size_t decimals = 0;

  void hold(std::string_view number) {
    const std::size_t point = std::min(number.find('.'), number.size());
    whole = std::max(whole, point);
    if (point < number.size()) decimals = std::max(decimals, number.size() - point - 1);
  }
};

// With room for the longest number of any cell: `S[table-format=2.2(4)]`; "r" where no cell is a number.
std::string point_alignment(const std::vector<Cell>& cells) {
  Digits mean, spread;
  std::string longest;  // of what follows numbers
  for (const Cell& cell : cells) {
    if (!is_decimal(cell.digits)) continue;
    mean.hold(cell.digits);
    if (is_decimal(cell.spread)) spread.hold(cell.spread);
    if (const std::string rest = behind_digits(cell); rest.size() > longest.size()) longest = rest;
  }
  if (mean.whole == 0) return "r";
  const std::size_t decimals = std::max(mean.decimals, spread.decimals);
  std::string format = fmt::format("table-format={}", mean.whole);
  if (decimals > 0) format += fmt::format(".{}", decimals);
  // siunitx counts the digits of an uncertainty from the last decimal on: ± 11.20 has four.
  // Where that takes two digits, it loses the alignment, unless the point is given.
  constexpr std::size_t kMostDigits = 9;
  const std::size_t digits = spread.whole + decimals;
  if (spread.whole > 0)
    format +=
        digits <= kMostDigits ? fmt::format("({})", digits) : fmt::format("({}.{})", spread.whole, decimals);
  if (!longest.empty()) format += fmt::format(", table-space-text-post={}", longest);
  return fmt::format("S[{}]", format);
}

std::string alignment_of(const CellColumn& column) {
  return column.align == Align::kPoint  ? point_alignment(column.cells)
         : column.align == Align::kText ? "l"
                                        : "r";
}

std::string latex_grid(const CellGrid& grid) {
  // One that is wider than the text is scaled down to it.
  std::string text = "  \\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n";
  text += fmt::format("  \\begin{{tabular}}{{{}}}\n    \\toprule\n    {} \\\\\n    \\midrule\n",
                      joined(grid, "", alignment_of), joined(grid, " & ", latex_heading));
  for (std::size_t row = 0; row < grid.front().cells.size(); ++row) {
    const std::string cells = joined(
        grid, " & ", [&](const CellColumn& column) { return latex_cell(column.cells[row], column.align); });
    // After \\ and \midrule a star or a bracket would be theirs.
    const bool is_theirs = cells.starts_with('[') || cells.starts_with('*');
    text += fmt::format("    {}{} \\\\\n", is_theirs ? "{}" : "", cells);
  }
  return text + "    \\bottomrule\n  \\end{tabular}}\n";
}

}  // namespace

std::string to_markdown(const ReaderTable& table) {
  std::string text = table.caption.empty() ? "" : table.caption + ".\n\n";
  text += table.grid.empty() ? "No finished run.\n" : markdown_grid(table.grid) + "\n" + table.legend + "\n";
  if (!table.notes.empty()) text += "\nNotes:\n";
  for (const std::string& note : table.notes) text += fmt::format("- {}\n", note);
  return text;
}

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

std::string to_latex(const ReaderTable& table) {
  if (table.grid.empty()) {
    std::string text = "% No finished run.\n";
    for (const std::string& note : table.notes) text += fmt::format("% {}\n", note);
    return text;
  }
  const bool by_points = std::ranges::any_of(
      table.grid, [](const CellColumn& column) { return alignment_of(column).starts_with('S'); });
  std::string text =
      fmt::format("% Needs \\usepackage{{booktabs, graphicx{}}}.\n", by_points ? ", siunitx" : "");
  text += "\\begin{table}\n  \\centering\n";
  // In text mode bold digits are bold throughout, which siunitx 3.2 in math mode misses; and ± of the math
  // font, because many installations have that of text as a bitmap only.
  if (by_points) {
    text +=
        "  \\sisetup{mode = text, detect-weight = true, separate-uncertainty = true, "
        "retain-zero-uncertainty = true}\n"
        "  \\renewcommand*{\\textpm}{\\ensuremath{\\pm}}\n";
  }
  text +=
      fmt::format("  \\caption{{{}{}}}\n", table.caption.empty() ? "" : latex_escaped(table.caption) + ". ",
                  latex_escaped(table.legend));
  text += latex_grid(table.grid);
  for (const std::string& note : table.notes)
    text += fmt::format("  \\par\\smallskip{{\\footnotesize Note: {}.\\par}}\n", latex_escaped(note));
  return text + "\\end{table}\n";
}

}  // namespace fedarena::results
