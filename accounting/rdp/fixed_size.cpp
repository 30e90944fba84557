// Sampling without replacement under replace-one: Wang, Balle, Kasiviswanathan, "Subsampled Rényi
// Differential Privacy and Analytical Moments Accountant", AISTATS 2019, Theorem 9, with the smaller of its
// two terms for each power j: the one that holds for every mechanism, 2 exp((j-1) eps(j)), and the one by
// moments of the likelihood ratio (their section on tighter bounds), 4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))).
// Integer orders; between them log A is interpolated, which is a bound because it is convex in the order.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <set>

#include "accounting/checks.hpp"
#include "accounting/rdp/divergences.hpp"

namespace fedarena {
namespace {

constexpr int kLargestOrder = 1024;  // above, the bound without sampling
constexpr int kLargestMoment = 256;  // above, and for distances above kFar, moments are not worth their time
constexpr double kFar = 2;

// log(exp(y) - 1), y > 0.
double log_expm1(double y) { return y > 1 ? y + std::log1p(-std::exp(-y)) : std::log(std::expm1(y)); }

// log B(2), log B(4), ... of B(k) = E_r|p/r - 1|^k for Gaussians of unit variance `distance` apart, by the
// trapezoidal rule, whose sum has no negative terms where forward differences would cancel. As far as they
// are worth their time.
std::vector<double> even_moments(double distance, int up_to) {
  std::vector<double> even, log_ratio, log_weight;
  if (distance > kFar || up_to < 2) return even;
  const int largest = std::min(up_to + 1, kLargestMoment);
  constexpr double kStep = 0.4, kReach = 9.5;
  // Off the point where p = r.
  const double origin = distance / 2 + kStep / 2;
  const auto below = static_cast<int>((kReach + origin) / kStep) + 1;
  const auto above = static_cast<int>((largest * distance + kReach + std::sqrt(largest)) / kStep) + 1;
  for (int j = -below; j <= above; ++j) {
    const double z = origin + j * kStep, power = distance * (z - distance / 2);
    log_ratio.push_back(power > 0 ? log_expm1(power) : std::log(-std::expm1(power)));
    log_weight.push_back(std::log(kStep / std::sqrt(2 * std::numbers::pi)) - z * z / 2);
  }
  even.push_back(log_expm1(distance * distance));
  for (int k = 4; k <= largest; k += 2)
    even.push_back(log_of_powers(k, log_ratio, log_weight, log_ratio.size()));
  return even;
}

// log of the j-th coefficient of q^j: a bound on the integral of |p1 - p1'|^j / r^(j-1).
std::vector<double> coefficients(double noise, int up_to) {
  const double ln2 = std::numbers::ln2, distance = 2 / noise;
  const std::vector<double> even = even_moments(distance, up_to);
  std::vector<double> logs(static_cast<std::size_t>(up_to) + 1, -kInfinity);
  for (int j = 2; j <= up_to; ++j) {
    // Odd moments are bounded by Cauchy and Schwarz.
    const auto low = static_cast<std::size_t>(j / 2) - 1, high = static_cast<std::size_t>((j + 1) / 2) - 1;
    const double by_moments = high < even.size() ? 2 * ln2 + (even[low] + even[high]) / 2 : kInfinity;
    const double by_divergence = ln2 + 0.5 * j * (j - 1) * distance * distance;
    logs[static_cast<std::size_t>(j)] = std::min(by_moments, by_divergence);
  }
  return logs;
}

}  // namespace

std::vector<double> fixed_size_log_moments(double rate, double noise_multiplier,
                                           std::span<const double> orders) {
  const auto unsampled = [&](double order) {
    return 2 * (order - 1) * order / (noise_multiplier * noise_multiplier);
  };
  std::set<int> whole;
  for (const double order : orders) {
    if (order > kLargestOrder) continue;
    whole.insert({static_cast<int>(std::floor(order)), static_cast<int>(std::ceil(order))});
  }
  const int up_to = whole.empty() ? 1 : *whole.rbegin();
  const std::vector<double> logs = coefficients(noise_multiplier, up_to);
  std::vector<double> moments(logs.size(), 0), terms(logs.size(), 0), log_factorial(logs.size(), 0);
  for (std::size_t j = 2; j < logs.size(); ++j) {
    log_factorial[j] = log_factorial[j - 1] + std::log(static_cast<double>(j));
  }
  const double log_rate = std::log(rate);
  for (const int order : whole) {
    double largest = -kInfinity, sum = 0;
    for (int j = 2; j <= order; ++j) {
      const auto at = static_cast<std::size_t>(j), of = static_cast<std::size_t>(order);
      terms[at] = log_factorial[of] - log_factorial[at] - log_factorial[of - at] + j * log_rate + logs[at];
      largest = std::max(largest, terms[at]);
    }
    for (int j = 2; j <= order; ++j) sum += std::exp(terms[static_cast<std::size_t>(j)] - largest);
    const double log_excess = std::isinf(largest) ? largest : largest + std::log(sum);
    moments[static_cast<std::size_t>(order)] = std::min(log_one_plus_exp(log_excess), unsampled(order));
  }
  std::vector<double> result;
  for (const double order : orders) {
    double moment = unsampled(order);
    if (order <= kLargestOrder) {
      const double low = std::floor(order), part = order - low;
      const double below = moments[static_cast<std::size_t>(low)];
      moment = std::min(
          moment, part == 0 ? below : (1 - part) * below + part * moments[static_cast<std::size_t>(low) + 1]);
    }
    result.push_back(std::max(moment, (order - 1) * std::numeric_limits<double>::min()));
  }
  return result;
}

}  // namespace fedarena
