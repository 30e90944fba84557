#pragma once

#include <span>
#include <string>

#include "results/report/row_series.hpp"

namespace fedarena::results {

/// Numbers as JSON with so many significant digits, null where there is none: an array, or
/// {"from": a, "step": b, "count": n} where at least three of them are a, a + b, a + 2b, ... to these digits,
/// as bytes and rounds often are.
std::string numbers_json(std::span<const double> numbers, int digits);

/// A row's series: {"lists": [[1,2], ...], "positions": {"rounds": 0, "x": {"0": 1}, "y": {"0": {"mean": 2,
/// "std": 3}}, "observed": {"radius": {"mean": 2}}}}. Equal lists are held once, because many are: what is
/// sent and what is received, classes that no algorithm tells apart. Axes and measures go by their position,
/// those that have no number are left out, and so is "observed" where nothing is.
std::string series_json(const RowSeries& series);

}  // namespace fedarena::results
