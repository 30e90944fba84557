#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fedarena {

/// How a column of numbers becomes one of mean 0 and deviation 1: (value - mean) / deviation, with both over
/// the training rows (divisor n), or is brought to another unit. Any finite values will do: squares neither
/// overflow nor vanish.
class ColumnScale {
 public:
  /// Leaves values as they are.
  ColumnScale() = default;
  /// Of the values in these rows, at least one.
  ColumnScale(std::span<const double> values, std::span<const std::int64_t> rows);
  /// Divides by a number above 0 that does not depend on the values.
  explicit ColumnScale(double unit) : deviation_(unit) {}

  /// Whether the values differ by no more than rounding explains. Then every value becomes 0, since nothing
  /// can be learned from them about others.
  bool constant() const { return constant_; }
  /// Whether it is of values: then the scaled ones no longer tell their mean and deviation.
  bool fitted() const { return fitted_; }
  /// In the unit of the values; 0 unless fitted.
  double mean() const;
  /// In the unit of the values; of a constant 0.
  double deviation() const;
  /// The scaled value; infinite where it is beyond all numbers.
  double operator()(double value) const;

 private:
  double gap(double value) const;

  bool fitted_ = false, constant_ = false;
  // The largest value of the training part is of size 2^exponent_; the others are in that unit.
  int exponent_ = 0;
  double centre_ = 0, mean_gap_ = 0, deviation_ = 1;
};

/// Whether single precision hardly tells values of these rows apart once they are scaled, as beside one value
/// that is larger by many orders: those of the middle half of the rows, or at least half of the different
/// values, however many rows are equal.
bool hides_differences(const ColumnScale& scale, std::span<const double> values,
                       std::span<const std::int64_t> rows);

}  // namespace fedarena
