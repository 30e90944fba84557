#pragma once

#include <optional>
#include <span>

#include "results/statistics/interval.hpp"

namespace fedarena::results {

/// Student's paired t test.
struct PairedT {
  double statistic = 0;
  double p = 1;       ///< two-sided
  Interval interval;  ///< of the mean difference
};

/// The test that the mean of finite differences is 0, and the interval that holds the mean with probability
/// `level`, both exact where differences are normally distributed. None for fewer than two differences, and
/// for equal ones, which tell nothing of their spread.
std::optional<PairedT> paired_t_test(std::span<const double> differences, double level);

/// The value that Student's t with so many degrees of freedom (at least 1) exceeds with probability `tail`.
double students_t_above(double tail, double degrees);

}  // namespace fedarena::results
