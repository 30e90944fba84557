#include "results/plot/curve_values.hpp"

#include <algorithm>
#include <cmath>

#include "results/statistics/statistics.hpp"

namespace fedarena::results {
namespace {

// What cannot be drawn is as good as not there: an infinite epsilon, a loss that diverged.
DrawnValues drawable(std::vector<std::optional<double>> values) {
  for (std::optional<double>& value : values) {
    if (value && !std::isfinite(*value)) value.reset();
  }
  return values;
}

}  // namespace

DrawnValues axis_values(const CurveAxis& axis, std::span<const RoundRecord> rounds) {
  return drawable(positions_on(axis, rounds));
}

DrawnValues quantity_values(const Quantity& quantity, std::span<const RoundRecord> rounds) {
  DrawnValues values = drawable(values_of(quantity, rounds));
  if (!is_share(quantity)) return values;
  for (std::optional<double>& value : values) {
    if (value) value = 100 * *value;
  }
  return values;
}

double over_seeds(const CurveAxis& axis, std::span<const double> positions) {
  return axis.largest ? std::ranges::max(positions) : mean(positions);
}

}  // namespace fedarena::results
