#pragma once

#include <array>
#include <string>

#include "results/record/find_runs.hpp"
#include "results/record/sweep.hpp"

namespace fedarena::results {

/// The identity of a row of a table. A sweep orders by its values, which as parts of a text would not be
/// numbers.
struct RowKey {
  std::string experiment;
  Sweep shared;                      ///< what a grid gives to all algorithms
  std::array<std::string, 4> names;  ///< data set, partition, model, label
  Sweep own;                         ///< what a grid gives to this algorithm alone
};

/// What rows are called: the label, and what a grid gives to this algorithm alone: "fedprox, mu=0.1".
std::string row_name(const std::string& label, const Sweep& own);

/// The row to which a run belongs.
RowKey key_of(const Summary& summary);

/// The order in which rows are printed: texts in natural order, values that are numbers as numbers.
struct RowOrder {
  bool operator()(const RowKey& left, const RowKey& right) const;
};

/// Throws Error, naming both directories, where runs of one row differ in more than the seed, or have the
/// same seed: no mean is taken over different things.
void check_same_row(const FoundRun& first, const FoundRun& second);

}  // namespace fedarena::results
