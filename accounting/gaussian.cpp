// Balle & Wang, "Improving the Gaussian Mechanism for Differential Privacy", ICML 2018, Theorem 8: with m =
// 1/z
//   delta = Phi(m/2 - eps/m) - e^eps Phi(-m/2 - eps/m).
// Differs from the paper: with x = eps/m - m/2 and Mills' ratio R this is phi(x) (R(x) - R(x + m)), and
// R(x) - R(x + m) is the integral of 1 - t R(t) > 0, so that small deltas and large noise keep full
// precision.
#include "fedarena/accounting/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/quadrature/gauss.hpp>

#include "fedarena/base/error.hpp"

#include "accounting/checks.hpp"
#include "accounting/safe_root.hpp"

namespace fedarena {
namespace {

const double kLogRoot2Pi = std::log(2 * std::numbers::pi) / 2;

// 1/R(x) - x by Laplace's continued fraction, x >= kFraction.
constexpr double kFraction = 3;
double fraction(double x) {
  double tail = 0;
  for (int k = 80; k >= 1; --k) tail = k / (x + tail);
  return tail;
}

// (1 - Phi(x)) / phi(x), and 1 - x times it.
double mills(double x) {
  if (x >= kFraction) return 1 / (x + fraction(x));
  return std::sqrt(std::numbers::pi / 2) * std::exp(x * x / 2) * std::erfc(x / std::numbers::sqrt2);
}

double mills_slope(double x) {
  if (x < kFraction) return 1 - x * mills(x);
  const double rest = fraction(x);
  return rest / (x + rest);
}

// log delta, <= 0; noise > 0.
double log_delta(double epsilon, double noise) {
  const double m = 1 / noise, x = epsilon * noise - m / 2;
  if (x < -38 || m == kInfinity) return 0;  // 1 to the last digit
  const double log_density = -x * x / 2 - kLogRoot2Pi;
  if (m < 1) {
    const double mean = boost::math::quadrature::gauss<double, 15>::integrate(
        [&](double t) { return mills_slope(x + t * m); }, 0.0, 1.0);
    return log_density + std::log(mean) + std::log(m);
  }
  if (x >= 0) return log_density + std::log(mills(x) - mills(x + m));
  return std::log(std::erfc(x / std::numbers::sqrt2) / 2 - std::exp(log_density) * mills(x + m));
}

}  // namespace

double gaussian_delta(double epsilon, double noise_multiplier) {
  check_epsilon(epsilon);
  check_not_negative(noise_multiplier, "the noise multiplier");
  if (epsilon == kInfinity) return 0;
  if (noise_multiplier == 0) return 1;
  // Never 0, which it is not.
  return std::max(std::numeric_limits<double>::denorm_min(), std::exp(log_delta(epsilon, noise_multiplier)));
}

double gaussian_epsilon(double delta, double noise_multiplier) {
  check_delta(delta);
  check_not_negative(noise_multiplier, "the noise multiplier");
  if (delta == 0 || 1 / noise_multiplier == kInfinity) return kInfinity;
  const double goal = std::log(delta);
  const auto excess = [&](double epsilon) { return log_delta(epsilon, noise_multiplier) - goal; };
  if (excess(0) <= 0) return 0;
  double high = 1 / noise_multiplier;
  while (excess(high) > 0) high *= 2;
  if (high == kInfinity) return kInfinity;
  return safe_root(excess, 0, high, 0);
}

double gaussian_noise_multiplier(double epsilon, double delta) {
  check_epsilon(epsilon);
  if (!(delta > 0 && delta < 1)) throw Error::of("delta is {}; allowed: 0 < delta < 1", delta);
  if (epsilon == kInfinity) return 0;
  const double goal = std::log(delta);
  const auto excess = [&](double noise) { return log_delta(epsilon, noise) - goal; };
  double low = 1, high = 1;
  while (excess(high) > 0) high *= 2;
  while (excess(low) <= 0) low /= 2;
  return safe_root(excess, low, high, 0);
}

double composed_noise_multiplier(std::span<const GaussianBlock> blocks) {
  double least = kInfinity;
  for (const GaussianBlock& block : blocks) {
    check_not_negative(block.noise_multiplier, "the noise multiplier");
    if (block.count < 0)
      throw Error::of("a Gaussian is counted {} times; allowed: an integer >= 0", block.count);
    if (block.count > 0) least = std::min(least, block.noise_multiplier);
  }
  if (least == 0 || least == kInfinity) return least;
  double sum = 0;  // relative to the least, so that no square leaves the range of double
  for (const GaussianBlock& block : blocks) {
    const double part = least / block.noise_multiplier;
    if (block.count > 0) sum += static_cast<double>(block.count) * part * part;
  }
  return least / std::sqrt(sum);
}

}  // namespace fedarena
