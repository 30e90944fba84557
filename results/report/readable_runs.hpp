#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/record/record.hpp"
#include "results/table/rows.hpp"

namespace fedarena::results {

/// The rounds of a row's finished runs, seeds ascending.
using RowRounds = std::vector<std::vector<RoundRecord>>;

/// What a report shows of the rounds of a row.
struct RowParts {
  std::string series;   ///< `series_json`
  std::string choices;  ///< `choices_figure`
};

/// Makes that of a row and its rounds.
using MakeParts = std::function<RowParts(const RowRuns& row, const RowRounds& rounds)>;

/// Runs that a table can be made of, and what was made of the rounds of each of its rows.
struct ReadableRuns {
  std::vector<FoundRun> runs;
  std::vector<RowParts> rows;  ///< in the order of `make_table`
};

/// Reads the rounds of finished runs and makes parts of a report of those of each row. Rows are read on all
/// cores, `make` may be called by several threads at once, and a row's rounds are in memory no longer than
/// that takes. A run whose rounds cannot be read, or are not what its summary says, comes back with that
/// problem in place of its summary, and so does every run of a row whose runs are not one row.
ReadableRuns readable_runs(std::vector<FoundRun> runs, const MakeParts& make);

}  // namespace fedarena::results
