#include "results/curve_values.hpp"

#include <algorithm>
#include <cmath>

#include "results/statistics.hpp"

namespace fedarena::results {
namespace {

using Value = std::optional<double>;

// What cannot be drawn is as good as not there: an infinite epsilon, a loss that diverged.
Value drawable(Value value) { return value && std::isfinite(*value) ? value : std::nullopt; }

}  // namespace

DrawnValues axis_values(const CurveAxis& axis, std::span<const RoundRecord> rounds) {
  DrawnValues values;
  Value sum = 0;
  for (const RoundRecord& round : rounds) {
    Value value = axis.of_round(round);
    if (axis.summed) value = sum = sum && value ? Value(*sum + *value) : std::nullopt;
    values.push_back(drawable(value));
  }
  return values;
}

DrawnValues measure_values(const CurveMeasure& measure, std::span<const RoundRecord> rounds) {
  const double scale = is_share(measure) ? 100 : 1;
  DrawnValues values;
  for (const RoundRecord& round : rounds) {
    const Value value = drawable(value_of(measure, round));
    values.push_back(value ? Value(scale * *value) : std::nullopt);
  }
  return values;
}

double over_seeds(const CurveAxis& axis, std::span<const double> positions) {
  return axis.largest ? std::ranges::max(positions) : mean(positions);
}

}  // namespace fedarena::results
