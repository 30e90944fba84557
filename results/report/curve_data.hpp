#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/report/readable_runs.hpp"
#include "results/table/table.hpp"

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

/// The claim of each run of a row, in the order of its rounds.
using SeedClaims = std::vector<std::optional<PrivacyClaim>>;
SeedClaims claims_of(const RowRuns& row);

/// `claims`: one a seed.
RowSeries row_series(const RowRounds& seeds, const SeedClaims& claims);

/// Numbers as JSON with so many significant digits, null where there is none: an array, or
/// {"from": a, "step": b, "count": n} where at least three of them are a, a + b, a + 2b, ... to these digits,
/// as bytes and rounds often are.
std::string numbers_json(std::span<const double> numbers, int digits);

/// A row's series: {"lists": [[1,2], ...], "positions": {"rounds": 0, "x": {"0": 1}, "y": {"0": {"mean": 2,
/// "std": 3}}, "observed": {"radius": {"mean": 2}}}}. Equal lists are held once, because many are: what is
/// sent and what is received, classes that no algorithm tells apart. Axes and measures go by their position,
/// those that have no number are left out, and so is "observed" where nothing is. Numbers are rounded to the
/// nearest, but epsilons up.
std::string series_json(const RowSeries& series);

/// All that the charts of a report show, as one JSON object: axes, measures, colours, the panels with the
/// rows of each setting, and the rows with their series. `parts` are those of the rows of the
/// table. Rows of one name share a look, that of `fedarena plot`.
std::string curve_data(const Table& table, std::span<const RowParts> parts);

}  // namespace fedarena::results
