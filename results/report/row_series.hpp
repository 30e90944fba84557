#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/report/readable_runs.hpp"

namespace fedarena::results {

/// What a row's curves can be drawn from, over seeds, as `make_curves` has it: the point of a round is there
/// for an axis and a measure that both have a number in it. Not a number where some seed has none.
struct RowSeries {
  struct Values {
    std::vector<double> mean;
    std::vector<double> std;  ///< empty for one seed
  };
  std::vector<std::int64_t> rounds;    ///< ascending: those in which some measure has a number
  std::vector<std::vector<double>> x;  ///< in the order of `curve_axes`, by position in `rounds`
  std::vector<Values> y;               ///< in the order of `measure_names`, likewise
  std::vector<std::pair<std::string, Values>> observed = {};  ///< by name, what every seed observes
};

/// Rounds that a curve of a report has at most; of more, evenly chosen ones are kept, the last among them.
inline constexpr std::size_t kMostRounds = 400;

RowSeries row_series(const RowRounds& seeds);

}  // namespace fedarena::results
