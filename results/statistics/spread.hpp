#pragma once

#include <optional>
#include <span>

namespace fedarena::results {

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

}  // namespace fedarena::results
