#pragma once

#include <optional>
#include <span>
#include <vector>

namespace fedarena::results {

/// The mean of at least one value, by compensated summation.
double mean(std::span<const double> values);

/// The middle one of at least one value, or the mean of the two in the middle.
double median(std::vector<double> values);

/// The sample standard deviation (divisor n - 1) of at least one value, by the corrected two-pass formula;
/// none for a single value, whose spread is unknown rather than 0.
std::optional<double> sample_standard_deviation(std::span<const double> values);

/// How sure the intervals of tables are.
inline constexpr double kIntervalLevel = 0.95;

/// A mean over seeds, and how far they spread, which a single seed does not tell.
struct Spread {
  double mean = 0;
  std::optional<double> std = {};  ///< sample standard deviation
  /// Of the two-sided interval of Student's t that holds the mean of normally distributed values with
  /// probability `kIntervalLevel`.
  std::optional<double> half_width = {};
};

/// Of at least one value.
Spread spread_of(std::span<const double> values);

/// What stands behind "±" in a table.
enum class PlusMinus { kDeviation, kHalfWidth };

/// That number; none for a single value.
std::optional<double> behind(PlusMinus plus_minus, const Spread& spread);

/// Where a quantity lies, with some probability.
struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

}  // namespace fedarena::results
