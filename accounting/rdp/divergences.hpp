#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace fedarena {

/// A bound on (order - 1) times the Rényi divergence of the Gaussian on a sample of fixed size under
/// replace-one, 0 < rate < 1, noise_multiplier > 0 (of the clip norm: neighbours move a sum by up to 2), for
/// each order > 1.
std::vector<double> fixed_size_log_moments(double rate, double noise_multiplier,
                                           std::span<const double> orders);

/// The same of the Poisson-sampled Gaussian: exact, and at high orders a bound.
std::vector<double> poisson_exchange_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders);

/// (order - 1) times the Rényi divergence of the Poisson-sampled Gaussian under add/remove, 0 < rate < 1,
/// noise_multiplier > 0, for each order > 1; all of them from one grid of the privacy loss.
std::vector<double> poisson_gaussian_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders);

/// exp(y) - 1 - y >= 0 for |y| <= kSmallExponent, to full precision: its Taylor series, without a branch so
/// that loops over it can be vectorised.
constexpr double kSmallExponent = 0.5;
inline double exp_minus_line_of_small(double y) {
  double sum = 1.0 / 1307674368000;  // 1/15!
  sum = sum * y + 1.0 / 87178291200;
  sum = sum * y + 1.0 / 6227020800;
  sum = sum * y + 1.0 / 479001600;
  sum = sum * y + 1.0 / 39916800;
  sum = sum * y + 1.0 / 3628800;
  sum = sum * y + 1.0 / 362880;
  sum = sum * y + 1.0 / 40320;
  sum = sum * y + 1.0 / 5040;
  sum = sum * y + 1.0 / 720;
  sum = sum * y + 1.0 / 120;
  sum = sum * y + 1.0 / 24;
  sum = sum * y + 1.0 / 6;
  sum = sum * y + 1.0 / 2;
  return sum * y * y;
}

/// exp(y) - 1 - y >= 0 for every y, to full precision.
inline double exp_minus_line(double y) {
  return std::abs(y) <= kSmallExponent ? exp_minus_line_of_small(y) : std::exp(y) - 1 - y;
}

/// log(1 + exp(y)) without overflow.
inline double log_one_plus_exp(double y) {
  return y > 0 ? y + std::log1p(std::exp(-y)) : std::log1p(std::exp(y));
}

/// exp(-44) = 8e-20 relative is left out wherever something is left out.
constexpr double kLeftOut = 44;

/// log of the sum of exp(power * logs[j] + log_weights[j]) over the first `count` numbers,
/// without overflow.
inline double log_of_powers(double power, std::span<const double> logs, std::span<const double> log_weights,
                            std::size_t count) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t j = 0; j < count; ++j) largest = std::max(largest, power * logs[j] + log_weights[j]);
  for (std::size_t j = 0; j < count; ++j) {
    const double exponent = power * logs[j] + log_weights[j] - largest;
    if (exponent > -kLeftOut) sum += std::exp(exponent);
  }
  return std::isinf(largest) ? largest : largest + std::log(sum);
}

}  // namespace fedarena
