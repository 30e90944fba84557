#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {

/// The rounds of a row's finished runs, seeds ascending.
using RowRounds = std::vector<std::vector<RoundRecord>>;

/// What is made of them, and of what is claimed for the row.
using RowText = std::function<std::string(const RowRounds&, const std::optional<PrivacyClaim>&)>;

/// Runs that a table can be made of, and what was made of the rounds of each of its rows.
struct ReadableRuns {
  std::vector<FoundRun> runs;
  std::vector<std::string> rows;  ///< in the order of `make_table`
};

/// Reads the rounds of finished runs and makes a text of those of each row. Rows are read on all cores,
/// `text_of` may be called by several threads at once, and a row's rounds are in memory no longer than that
/// takes. A run whose rounds cannot be read, or are not what its summary says, comes back with that problem
/// in place of its summary, and so does every run of a row whose runs are not one row.
ReadableRuns readable_runs(std::vector<FoundRun> runs, const RowText& text_of);

}  // namespace fedarena::results
