#pragma once

#include <string>

#include "results/table/column_selection.hpp"

namespace fedarena::results {

/// A Markdown table that also reads well in a terminal: what all rows share above it, notes below it, the
/// best result of comparable rows in bold. An empty selection stands for the default one.
std::string render_markdown(const Table& table, const Selection& selection = {});

/// A LaTeX table (package booktabs), with the same content as the Markdown one.
std::string render_latex(const Table& table, const Selection& selection = {});

/// Comma-separated raw numbers, one line a row, always with the same columns; quoting as in RFC 4180, lines
/// end with a line feed. Notes have no place in it: print `Table::notes` elsewhere.
std::string render_csv(const Table& table);

/// All raw numbers as JSON, with the results of every seed and the notes.
std::string render_json(const Table& table);

}  // namespace fedarena::results
