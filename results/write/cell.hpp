#pragma once

#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/statistics.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {

struct Result;
struct Published;

/// What stands in one cell of a table for readers. Writers escape and align it, and look at nothing else.
struct Cell {
  Cell() = default;
  // NOLINTBEGIN(google-explicit-constructor): functions of columns return texts and numbers as they are.
  Cell(std::string words) : text(std::move(words)) {}
  Cell(const char* words) : text(words) {}
  /// A number in a unit, "1.46 KiB", behind a sign such as "≥ ".
  Cell(const ScaledNumber& number, const std::string& before = {})
      : text(before + number.text()), value(number.value) {}
  // NOLINTEND(google-explicit-constructor)

  std::string digits;           ///< of a number, "72.00", or "inf", "nan"; empty: words
  std::string spread;           ///< of the number, behind "±": "1.00"; may be empty
  std::string text;             ///< words, or what follows the number: a mark, a unit
  std::optional<double> value;  ///< by which tables are sorted, as exact as it is printed; none for words
  bool best = false;
};

/// "72.00 ± 1.00†" from its parts; its value is that of the digits.
Cell number_cell(std::string digits, std::string spread = {}, std::string behind = {});

/// "94.07 ± 0.26": a result in percent where it is a share; the mean alone for one seed.
Cell result_cell(const Result& result, PlusMinus shown);

/// "45.25 ± 6.9 [1]": a published figure with the digits that it has.
Cell published_cell(const Published& published);

/// As readers see it, without emphasis.
std::string plain_text(const Cell& cell);

/// How the cells of a column stand below each other.
enum class Align {
  kText,     ///< to the left
  kNumber,   ///< to the right
  kPoint,    ///< numbers to the right, in LaTeX by their points
  kFormula,  ///< to the right; LaTeX sets numbers, signs and ranges as mathematics
};

/// What heads a column. LaTeX sets the word "epsilon" at its beginning as the symbol where it `is_epsilon`.
struct Heading {
  // NOLINTBEGIN(google-explicit-constructor): most headings are texts.
  Heading(std::string words, bool epsilon = false) : text(std::move(words)), is_epsilon(epsilon) {}
  Heading(const char* words) : text(words) {}
  // NOLINTEND(google-explicit-constructor)

  std::string text;
  bool is_epsilon = false;
};

/// One column of a table of such items.
template <typename Item>
struct Column {
  Heading heading;
  Align align = Align::kText;
  std::function<Cell(const Item&)> cell;
};

/// A filled column.
struct CellColumn {
  Heading heading;
  Align align = Align::kText;
  std::vector<Cell> cells = {};
};

/// A table for readers, by columns of equal length.
using CellGrid = std::vector<CellColumn>;

/// The table whose rows are these items.
template <std::ranges::input_range Items>
CellGrid cell_grid(const std::vector<Column<std::ranges::range_value_t<Items>>>& columns,
                   const Items& items) {
  CellGrid grid;
  for (const auto& column : columns) {
    grid.push_back({column.heading, column.align});
    for (const auto& item : items) grid.back().cells.push_back(column.cell(item));
  }
  return grid;
}

}  // namespace fedarena::results
