#pragma once

#include <span>
#include <string>
#include <string_view>

#include "results/write/cell_grid.hpp"

namespace fedarena::results {

/// A cell of a column that LaTeX's siunitx aligns by the decimal point, from the text that readers see:
/// "72.00 ± 1.00" is `72.00 \pm 1.00`, "2.79†" is `2.79{$^{\dagger}$}`, and what is no number stands in
/// braces: `{-}`, `{$\infty$}`. The best one is bold.
std::string siunitx_cell(std::string_view text, bool best = false);

/// The column for these cells, with room for the longest number of any: `S[table-format=2.2(4)]`; "r" where
/// no cell is a number.
std::string siunitx_column(std::span<const std::string> cells);

/// The beginning of a table up to its caption: the packages that it needs, as a comment, and what siunitx
/// must be told.
std::string latex_opening(const CellGrid& grid);

}  // namespace fedarena::results
