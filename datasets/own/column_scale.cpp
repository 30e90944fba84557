#include "datasets/own/column_scale.hpp"

#include <algorithm>
#include <cmath>

namespace fedarena {
namespace {

// Of the largest value: some hundred times what double precision rounds to.
constexpr double kRounding = 1e-13;
// Single precision has 6e-8.
constexpr double kHardlyDifferent = 1e-6;

}  // namespace

ColumnScale::ColumnScale(std::span<const double> values, std::span<const std::int64_t> rows) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const std::int64_t row : rows) {
    low = std::min(low, values[static_cast<std::size_t>(row)]);
    high = std::max(high, values[static_cast<std::size_t>(row)]);
  }
  std::frexp(std::max(std::abs(low), std::abs(high)), &exponent_);
  low = std::ldexp(low, -exponent_);
  high = std::ldexp(high, -exponent_);
  constant_ = high - low <= kRounding * std::max(std::abs(low), std::abs(high));
  centre_ = low + (high - low) / 2;
  if (constant_) return;
  const auto count = static_cast<double>(rows.size());
  for (const std::int64_t row : rows) mean_gap_ += gap(values[static_cast<std::size_t>(row)]) / count;
  double variance = 0;
  for (const std::int64_t row : rows) {
    const double from_mean = gap(values[static_cast<std::size_t>(row)]) - mean_gap_;
    variance += from_mean * from_mean / count;
  }
  deviation_ = std::sqrt(variance);
}

double ColumnScale::deviation() const { return constant_ ? 0 : std::ldexp(deviation_, exponent_); }

double ColumnScale::operator()(double value) const {
  return constant_ ? 0 : (gap(value) - mean_gap_) / deviation_;
}

// From the centre, so that values that are large and nearly equal lose nothing to rounding.
double ColumnScale::gap(double value) const { return std::ldexp(value, -exponent_) - centre_; }

bool hides_differences(const ColumnScale& scale, std::span<const double> values,
                       std::span<const std::int64_t> rows) {
  std::vector<double> sorted;
  for (const std::int64_t row : rows) sorted.push_back(values[static_cast<std::size_t>(row)]);
  const auto quartile = [&](std::size_t quarters) {
    const auto place = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) * quarters / 4);
    std::nth_element(sorted.begin(), place, sorted.end());
    return *place;
  };
  const double first = quartile(1), third = quartile(3);
  const double low = scale(first), high = scale(third);
  return first < third && high - low < kHardlyDifferent * std::max(std::abs(low), std::abs(high));
}

}  // namespace fedarena
