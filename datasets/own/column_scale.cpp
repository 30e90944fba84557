#include "datasets/own/column_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fedarena {
namespace {

// Of the largest value: some hundred times what double precision rounds to.
constexpr double kRounding = 1e-13;
// Single precision has 6e-8.
constexpr double kHardlyDifferent = 1e-6;
// In deviations: less is lost where a model adds it to numbers near 1.
constexpr double kVanishes = 6e-8;
// Beside numbers up to this, what differs from 0 by rounding is what arithmetic leaves; beside larger ones it
// may be all that the column says.
constexpr double kOrdinary = 1e6;

// Whether values, the first one the smaller, are about as near to each other as single precision can tell.
bool hardly_differ(double first, double second) {
  return second - first <= kHardlyDifferent * std::max(std::abs(first), std::abs(second));
}

// Of sorted values.
bool hides_middle_half(const ColumnScale& scale, const std::vector<double>& sorted) {
  const double first = sorted[(sorted.size() - 1) / 4], third = sorted[(sorted.size() - 1) * 3 / 4];
  return first < third && hardly_differ(scale(first), scale(third));
}

// Of sorted values, one of those that single precision hardly tells apart before they are scaled.
void keep_different(std::vector<double>& sorted) {
  const double largest = std::max(std::abs(sorted.front()), std::abs(sorted.back()));
  const double rounding = largest <= kOrdinary ? kRounding * largest : 0;
  const auto alike = [&](double first, double second) {
    return second - first <= rounding || hardly_differ(first, second);
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), alike), sorted.end());
}

// The most of these ascending values that are lost in one number. `least`: the difference that is not lost.
std::ptrdiff_t most_in_one(const ColumnScale& scale, const std::vector<double>& different, double least) {
  std::ptrdiff_t most = 0;
  for (auto first = different.begin(); first != different.end();) {
    const double low = scale(*first);
    const auto apart = std::find_if(first, different.end(), [&](double value) {
      return scale(value) - low > least && !hardly_differ(low, scale(value));
    });
    most = std::max(most, apart - first);
    first = apart;
  }
  return most;
}

}  // namespace

ColumnScale::ColumnScale(std::span<const double> values, std::span<const std::int64_t> rows) : fitted_(true) {
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

double ColumnScale::mean() const { return std::ldexp(centre_ + mean_gap_, exponent_); }

double ColumnScale::deviation() const { return constant_ ? 0 : std::ldexp(deviation_, exponent_); }

double ColumnScale::operator()(double value) const {
  return constant_ ? 0 : (gap(value) - mean_gap_) / deviation_;
}

// From the centre, so that values that are large and nearly equal lose nothing to rounding.
double ColumnScale::gap(double value) const { return std::ldexp(value, -exponent_) - centre_; }

bool hides_differences(const ColumnScale& scale, std::span<const double> values,
                       std::span<const std::int64_t> rows) {
  if (scale.constant()) return false;
  std::vector<double> sorted;
  for (const std::int64_t row : rows) sorted.push_back(values[static_cast<std::size_t>(row)]);
  std::ranges::sort(sorted);
  if (hides_middle_half(scale, sorted)) return true;
  // Where most rows are equal, the different values tell, however few rows have them.
  keep_different(sorted);
  const double least = scale.fitted() ? kVanishes : std::numeric_limits<float>::min();
  const std::ptrdiff_t hidden = most_in_one(scale, sorted, least) - 1;
  return hidden > 0 && 2 * hidden >= std::ssize(sorted) - 1;
}

}  // namespace fedarena
