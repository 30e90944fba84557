#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/text/markup.hpp"
#include "results/write/writers.hpp"

namespace fedarena::results {
namespace {

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
  std::string alignments;
  std::vector<std::string> headings;
  for (const CellColumn& column : grid) {
    alignments += alignment_of(column);
    headings.push_back(latex_heading(column));
  }
  std::string text = fmt::format("  \\begin{{tabular}}{{{}}}\n    \\toprule\n    {} \\\\\n    \\midrule\n",
                                 alignments, fmt::join(headings, " & "));
  for (std::size_t row = 0; row < grid.front().cells.size(); ++row) {
    std::vector<std::string> cells;
    for (const CellColumn& column : grid) cells.push_back(latex_cell(column.cells[row], column.align));
    // After \\ and \midrule a star or a bracket would be theirs.
    const bool is_theirs = cells.front().starts_with('[') || cells.front().starts_with('*');
    text += fmt::format("    {}{} \\\\\n", is_theirs ? "{}" : "", fmt::join(cells, " & "));
  }
  return text + "    \\bottomrule\n  \\end{tabular}\n";
}

}  // namespace

std::string to_latex(const ReaderTable& table) {
  if (table.grid.empty()) {
    std::string text = "% No finished run.\n";
    for (const std::string& note : table.notes) text += fmt::format("% {}\n", note);
    return text;
  }
  const bool by_points = std::ranges::any_of(
      table.grid, [](const CellColumn& column) { return alignment_of(column).starts_with('S'); });
  std::string text = fmt::format("% Needs \\usepackage{{booktabs{}}}.\n", by_points ? ", siunitx" : "");
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
