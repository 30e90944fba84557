#pragma once

#include <optional>
#include <string>

#include "results/compare/pairs.hpp"
#include "results/table/column_selection.hpp"
#include "results/table/pivot.hpp"
#include "results/write/writers.hpp"

namespace fedarena::results {

/// The table for readers: columns for what tells its rows apart (parts of the setting, and what a sweep
/// gives, only where rows differ), then the selected ones. An empty selection stands for the default one.
/// What all rows share stands above it, notes below it; the best result of comparable rows is bold.
ReaderTable reader_table(const Table& table, const Selection& selection = {});

/// A matrix with the caption, legend and notes of its table. What the table marks as the best of its setting
/// is bold. Where rows have published figures, a column of them stands beside the column of results.
ReaderTable reader_table(const Table& table, const Pivot& pivot);

/// Pairs and the rule by which verdicts are given.
ReaderTable reader_table(const Pairs& pairs);

/// Comma-separated raw numbers, one line a row, always with the same columns; quoting as in RFC 4180, lines
/// end with a line feed. Notes have no place in it: print `Table::notes` elsewhere.
std::string render_csv(const Table& table);

/// A row's published figure in the unit of its raw numbers: shares as fractions.
std::optional<Published> raw_published(const Row& row);

/// All raw numbers as JSON, with the results of every seed and the notes.
std::string render_json(const Table& table);

/// A matrix as comma-separated raw numbers; each column of the matrix is "VALUE mean", "VALUE std", "VALUE
/// half_width_95" and "VALUE seeds", and "VALUE published" where rows have such figures.
std::string render_pivot_csv(const Table& table, const Pivot& pivot);

/// Comma-separated raw numbers, one line a pair, always with the same columns. Fractions stay fractions.
/// Notes have no place in it: print `Pairs::notes` elsewhere.
std::string render_pairs_csv(const Pairs& pairs);

/// All raw numbers as JSON, with both results of every seed and the notes.
std::string render_pairs_json(const Pairs& pairs);

}  // namespace fedarena::results
