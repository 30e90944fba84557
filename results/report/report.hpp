#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// Something in a run directory that could not be shown, or that contradicts the rest of it.
struct Problem {
  std::filesystem::path run;
  std::string what;  ///< file, field and reason, in one line
};

using Problems = std::vector<Problem>;

/// A report, and what its reader should know at once.
struct Report {
  std::string html;        ///< one page that needs nothing else
  std::size_t runs = 0;    ///< that are shown
  std::size_t rows = 0;    ///< of the table
  Problems problems = {};  ///< what could not be shown
};

/// Makes one HTML page of runs: summary, tables, charts, partitions, privacy, synthetic images, environment
/// and how to reproduce them. It loads nothing, runs no script but its own, and is a function of the runs and
/// of their paths as given, to the last byte. What is broken is named with file and field, and the rest is
/// shown. Its texts may come from anywhere: all of them are escaped.
Report make_report(std::vector<FoundRun> runs);

}  // namespace fedarena::results
