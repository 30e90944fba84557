#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace fedarena {

// The bounds of statistical tests. Each single comparison raises a false alarm with probability 10^-6 over
// seeds. Seeds are fixed, so a test that passes once passes always; the rate says what a change of seed
// risks.

/// |z| of a standard normal statistic exceeds this with probability 10^-6.
inline constexpr double kNormalBound = 4.892;

/// sqrt(n) * D of the Kolmogorov-Smirnov test exceeds this with probability 10^-6: sqrt(log(2 / 10^-6) / 2).
inline constexpr double kKolmogorovBound = 2.694;

/// A chi-square variate exceeds this with probability 10^-6 (Wilson and Hilferty 1931).
inline double chi_square_bound(double degrees) {
  constexpr double kUpperTail = 4.753;
  const double part = 2 / (9 * degrees);
  return degrees * std::pow(1 - part + kUpperTail * std::sqrt(part), 3);
}

/// Pearson's statistic of counts against equal expectations.
inline double chi_square_of_equal_cells(const std::vector<std::int64_t>& counts) {
  double total = 0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const std::int64_t count : counts)
    statistic += std::pow(static_cast<double>(count) - expected, 2) / expected;
  return statistic;
}

/// Whether counts of equally likely cells look so.
inline bool equally_likely(const std::vector<std::int64_t>& counts) {
  return chi_square_of_equal_cells(counts) < chi_square_bound(static_cast<double>(counts.size() - 1));
}

/// (sample mean - mean) in units of its standard error.
inline double mean_z(const std::vector<double>& sample, double mean, double variance) {
  double sum = 0;
  for (const double value : sample) sum += value - mean;
  return sum / std::sqrt(variance * static_cast<double>(sample.size()));
}

/// (sample variance around the known mean - variance) in units of its standard error, the fourth central
/// moment being known.
inline double variance_z(const std::vector<double>& sample, double mean, double variance,
                         double fourth_moment) {
  std::vector<double> squares;
  for (const double value : sample) squares.push_back((value - mean) * (value - mean));
  return mean_z(squares, variance, fourth_moment - variance * variance);
}

}  // namespace fedarena
