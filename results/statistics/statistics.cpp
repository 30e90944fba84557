#include "results/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fedarena/base/error.hpp"

#include "results/statistics/paired_tests.hpp"

namespace fedarena::results {
namespace {

// Neumaier 1974. Infinite values would turn the compensation into NaN, so they are left to plain addition.
double compensated_sum(std::span<const double> values) {
  double sum = 0;
  double lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return std::isfinite(sum) ? sum + lost : sum;
}

}  // namespace

double mean(std::span<const double> values) {
  FEDARENA_CHECK(values.size(), >=, 1U);
  return compensated_sum(values) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  FEDARENA_CHECK(values.size(), >=, 1U);
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::optional<double> sample_standard_deviation(std::span<const double> values) {
  FEDARENA_CHECK(values.size(), >=, 1U);
  if (values.size() == 1) return std::nullopt;
  const double centre = mean(values);
  // Infinity less itself would have a sign.
  if (!std::isfinite(centre)) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(values.size());
  double squares = 0;
  double residue = 0;  // zero but for the rounding of the mean, whose effect it removes
  for (const double value : values) {
    squares += (value - centre) * (value - centre);
    residue += value - centre;
  }
  const double sum_of_squares = squares - residue * residue / count;
  // max() would turn NaN into 0.
  return std::sqrt(sum_of_squares < 0 ? 0.0 : sum_of_squares / (count - 1));
}

Spread spread_of(std::span<const double> values) {
  Spread spread{.mean = mean(values), .std = sample_standard_deviation(values)};
  if (!spread.std) return spread;
  const auto count = static_cast<double>(values.size());
  spread.half_width = students_t_above((1 - kIntervalLevel) / 2, count - 1) * *spread.std / std::sqrt(count);
  return spread;
}

std::optional<double> behind(PlusMinus plus_minus, const Spread& spread) {
  return plus_minus == PlusMinus::kHalfWidth ? spread.half_width : spread.std;
}

}  // namespace fedarena::results
