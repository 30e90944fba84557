#include "results/write/siunitx.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "results/write/columns.hpp"

namespace fedarena::results {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kBold = "\\bfseries ";
constexpr std::string_view kPlusMinus = " ± ";
constexpr std::string_view kLatexPlusMinus = " \\pm ";

// How many digits a number has before and after its point.
struct Digits {
  std::size_t whole = 0;
  std::size_t decimals = 0;
};

// The number with which a text begins, "72.00" of "72.00 ± 1.00"; takes it from the text. No signs, no
// exponents: tables have none.
std::optional<Digits> take_digits(std::string_view& text) {
  const std::size_t whole = std::min(text.find_first_not_of(kDigits), text.size());
  if (whole == 0) return std::nullopt;
  std::size_t end = whole;
  if (end + 1 < text.size() && text[end] == '.' && kDigits.find(text[end + 1]) != std::string_view::npos)
    end = std::min(text.find_first_not_of(kDigits, end + 1), text.size());
  text.remove_prefix(end);
  return Digits{.whole = whole, .decimals = end == whole ? 0 : end - whole - 1};
}

// "72.00 ± 1.00 [1]": both numbers, and where the rest begins.
struct Number {
  Digits mean;
  std::optional<Digits> spread = {};
  std::string_view rest = {};
};

std::optional<Number> parse(std::string_view text, std::string_view plus_minus) {
  Number number;
  number.rest = text;
  const std::optional<Digits> mean = take_digits(number.rest);
  if (!mean) return std::nullopt;
  number.mean = *mean;
  if (number.rest.starts_with(plus_minus)) {
    std::string_view behind = number.rest.substr(plus_minus.size());
    number.spread = take_digits(behind);
    if (number.spread) number.rest = behind;
  }
  return number;
}

// Marks and words may follow a number, but "14-15" and "1e-5" are none.
bool is_number_with(std::string_view rest) {
  return rest.empty() || rest.front() == ' ' || static_cast<unsigned char>(rest.front()) >= 0x80;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kInfinity = "inf";
  // A sign among numbers, but a word in notes.
  if (text == kInfinity || text.starts_with("inf "))
    return "$\\infty$" + latex_escaped(text.substr(kInfinity.size()));
  return latex_escaped(text);
}

}  // namespace

std::string siunitx_cell(std::string_view text, bool best) {
  const std::string weight(best ? kBold : "");
  const std::optional<Number> number = parse(text, kPlusMinus);
  if (!number || !is_number_with(number->rest)) return fmt::format("{{{}{}}}", weight, escaped(text));
  std::string cell(text.substr(0, text.size() - number->rest.size()));
  if (const std::size_t at = cell.find(kPlusMinus); at != std::string::npos)
    cell.replace(at, kPlusMinus.size(), kLatexPlusMinus);
  if (!number->rest.empty()) cell += fmt::format("{{{}}}", escaped(number->rest));
  return weight + cell;
}

std::string siunitx_column(std::span<const std::string> cells) {
  Digits mean, spread;
  bool any = false;
  std::string_view longest;  // of what follows numbers
  for (const std::string& cell : cells) {
    std::string_view text = cell;
    if (text.starts_with(kBold)) text.remove_prefix(kBold.size());
    const std::optional<Number> number = parse(text, kLatexPlusMinus);
    if (!number) continue;
    any = true;
    mean.whole = std::max(mean.whole, number->mean.whole);
    mean.decimals = std::max(mean.decimals, number->mean.decimals);
    if (number->spread) {
      spread.whole = std::max(spread.whole, number->spread->whole);
      spread.decimals = std::max(spread.decimals, number->spread->decimals);
    }
    if (number->rest.size() > longest.size()) longest = number->rest;
  }
  if (!any) return "r";
  std::string format =
      fmt::format("table-format={}.{}", mean.whole, std::max(mean.decimals, spread.decimals));
  if (format.ends_with(".0")) format.resize(format.size() - 2);
  // siunitx counts the digits of an uncertainty from the last decimal on: ± 11.20 has four.
  if (spread.whole > 0)
    format += fmt::format("({})", spread.whole + std::max(mean.decimals, spread.decimals));
  if (!longest.empty()) format += fmt::format(", table-space-text-post={}", longest);
  return fmt::format("S[{}]", format);
}

std::string latex_opening(const CellGrid& grid) {
  const bool decimal = std::ranges::any_of(grid.latex_columns,
                                           [](const std::string& column) { return column.starts_with('S'); });
  std::string text = fmt::format("% Needs \\usepackage{{booktabs{}}}.\n\\begin{{table}}\n  \\centering\n",
                                 decimal ? ", siunitx" : "");
  if (!decimal) return text;

  // In text mode bold digits are bold throughout, which siunitx 3.2 in math mode misses; and ± of the math
  // font, because many installations have that of text as a bitmap only.
  return text +
         "  \\sisetup{mode = text, detect-weight = true, separate-uncertainty = true}\n"
         "  \\renewcommand*{\\textpm}{\\ensuremath{\\pm}}\n";
}

}  // namespace fedarena::results
