#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/own/column_scale.hpp"
#include "datasets/own/csv_table.hpp"

namespace fedarena {

/// Which rows of a table are for training, and which for testing.
struct CsvParts {
  std::vector<std::int64_t> train, test;  ///< ascending
};

/// The rows before `first` for training, the others for testing.
CsvParts split_at(std::int64_t first, std::int64_t rows);

/// Draws the test rows, at least one and not all: the same ones for every seed of an experiment.
CsvParts draw_parts(std::int64_t rows, double test_fraction);

/// What columns are divided by instead of being standardised, by their names.
using CsvUnits = std::vector<std::pair<std::string, double>>;

/// How the numbers of a table are scaled.
struct CsvScales {
  std::vector<ColumnScale> features;  ///< by position in CsvTable::features()
  ColumnScale target;                 ///< of a regression
  CsvUnits units = {};
};

/// Scales of the features and the target of a regression over the training part, as far as they are wanted;
/// columns with a unit are divided by it. Throws Error, with a place, where values would leave what single
/// precision can learn from: a value too large, one that hides the differences between the others, or a test
/// value that is far from all training; where a regression's target is the same in all training rows, and
/// where a unit is of a column that is not in use.
CsvScales scale_columns(const CsvTable& table, const CsvParts& parts, bool features, bool target,
                        CsvUnits units = {});

/// How often each class occurs in these rows, in the order of their names.
std::vector<std::int64_t> class_counts(const CsvTable& table, const std::vector<std::int64_t>& rows);

/// Throws Error, with the place of its first row, for a class that only the test part has.
void check_test_classes(const CsvTable& table, const CsvParts& parts);

/// What was taken from the table, in lines for a terminal: rows, columns by kind, those that are constant or
/// not used, and, where labels are told, how often each class occurs or from where to where targets go.
std::string in_words(const CsvTable& table, const CsvParts& parts, const CsvScales& scales,
                     bool tells_labels);

}  // namespace fedarena
