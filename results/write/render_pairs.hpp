#pragma once

#include <string>

#include "results/compare/pairs.hpp"

namespace fedarena::results {

/// A Markdown table that also reads well in a terminal: what all rows share above it, legend and notes below.
std::string render_pairs_markdown(const Pairs& pairs);

/// A LaTeX table (package booktabs), with the same content as the Markdown one.
std::string render_pairs_latex(const Pairs& pairs);

/// Comma-separated raw numbers, one line a pair, always with the same columns. Fractions stay fractions.
/// Notes have no place in it: print `Pairs::notes` elsewhere.
std::string render_pairs_csv(const Pairs& pairs);

/// All raw numbers as JSON, with both results of every seed and the notes.
std::string render_pairs_json(const Pairs& pairs);

}  // namespace fedarena::results
