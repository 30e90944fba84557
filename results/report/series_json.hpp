#pragma once

#include <span>
#include <string>

#include "results/report/row_series.hpp"

namespace fedarena::results {

/// Numbers as JSON with so many significant digits, null where there is none: an array, or
/// {"from": a, "step": b, "count": n} where at least three of them are a, a + b, a + 2b, ... to these digits,
/// as bytes and rounds often are.
std::string numbers_json(std::span<const double> numbers, int digits);

/// A row's series: {"rounds": ..., "x": {"0": ...}, "y": {"0": {"mean": ..., "std": ...}}, "observed":
/// {"radius": {"mean": ...}}}; axes and measures by their position, without those that have no number.
std::string series_json(const RowSeries& series);

}  // namespace fedarena::results
