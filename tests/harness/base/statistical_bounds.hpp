#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
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

/// Whether each of `outcomes` outcomes is drawn equally often.
template <typename Draw>
bool draws_equally(std::int64_t draws, std::size_t outcomes, Draw draw) {
  std::map<decltype(draw()), std::int64_t> counts;
  for (std::int64_t i = 0; i < draws; ++i) ++counts[draw()];
  std::vector<std::int64_t> cells;
  for (const auto& [outcome, count] : counts) cells.push_back(count);
  return cells.size() == outcomes && equally_likely(cells);
}

/// Whether subsets of `units` units, counted by their bits, have the probabilities of units that are each in
/// one with probability `rate`, whatever the others are.
inline bool independent_inclusions(const std::vector<double>& counts, int units, double rate) {
  double draws = 0, statistic = 0;
  for (const double count : counts) draws += count;
  for (std::size_t subset = 0; subset < counts.size(); ++subset) {
    double expected = draws;
    for (int unit = 0; unit < units; ++unit) expected *= (subset >> unit) % 2 == 1 ? rate : 1 - rate;
    statistic += std::pow(counts[subset] - expected, 2) / expected;
  }
  return statistic < chi_square_bound(static_cast<double>(counts.size() - 1));
}

/// sqrt(n) * D: the largest distance between the distribution of a sample and the uniform one on [0, 1].
inline double kolmogorov_of_uniform(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const auto count = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, (rank + 1) / count - sample[i], sample[i] - rank / count});
  }
  return std::sqrt(count) * distance;
}

/// The same for a sample and the standard normal distribution.
inline double kolmogorov_of_normal(std::vector<double> sample) {
  for (double& value : sample) value = 0.5 * std::erfc(-value / std::sqrt(2));
  return kolmogorov_of_uniform(std::move(sample));
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
