#pragma once

#include <string>
#include <vector>

#include "results/compare/pairs.hpp"

namespace fedarena::results {

/// One column of a table of pairs for readers, as plain text that each typesetting escapes.
struct PairColumn {
  std::string heading;
  bool right_aligned = false;
  bool is_formula = false;         ///< signs and ranges that LaTeX sets as mathematics
  std::vector<std::string> cells;  ///< by pair
};

/// The columns that these pairs need.
std::vector<PairColumn> pair_columns(const Pairs& pairs);

/// What the columns mean, and the rule by which verdicts are given.
std::string pairs_legend(const Pairs& pairs);

}  // namespace fedarena::results
