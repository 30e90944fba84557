#include "accounting/pld/saddle.hpp"

#include <algorithm>
#include <cmath>

namespace fedarena::pld {
namespace {

constexpr double kLogTail = 30;
constexpr double kLongInterval = 1e3;  // in deviations

// e^(x^2) erfc(x) for x >= 0, to four digits.
double scaled_erfc(double x) {
  if (x < 6) return std::exp(x * x) * std::erfc(x);
  return (1 - 0.5 / (x * x)) / (x * std::sqrt(M_PI));
}

// The tilt at which `rises`(saddle) turns from false to true.
template <typename Rises>
Saddle bisected(std::span<const Copies> copies, double step, const Rises& rises) {
  Saddle best = saddle_at(copies, step, 0);
  if (rises(best) || !(best.deviation > 0)) return best;
  const double unit = 1 / best.deviation;
  double low = std::log(1e-4 * unit);
  double high = std::log(1e-3 * unit);
  while (high < std::log(unit) + 40) {
    const Saddle next = saddle_at(copies, step, std::exp(high));
    if (!(next.deviation > 0) || rises(next)) break;
    best = next;
    low = high;
    high += 2;
  }
  for (int i = 0; i < 24; ++i) {
    const double middle = (low + high) / 2;
    const Saddle next = saddle_at(copies, step, std::exp(middle));
    if (!(next.deviation > 0) || rises(next)) {
      high = middle;
    } else {
      low = middle;
      best = next;
    }
  }
  return best;
}

}  // namespace

Saddle saddle_at(std::span<const Copies> copies, double step, double tilt) {
  Saddle saddle{.tilt = tilt};
  double log_scale = 0;
  double variance = 0;
  for (const auto& [lattice, count] : copies) {
    const double normal = log_moment(*lattice, step, tilt);
    double mean = 0;
    double square = 0;
    double total = 0;
    for (const auto& [index, mass] : lattice->points) {
      const double loss = lattice->offset + step * static_cast<double>(index);
      const double tilted = mass * std::exp(tilt * loss - normal);
      total += tilted;
      mean += tilted * loss;
      square += tilted * loss * loss;
    }
    mean /= total;
    log_scale += count * normal;
    saddle.epsilon += count * mean;
    variance += count * std::max(0.0, square / total - mean * mean);
  }
  saddle.deviation = std::sqrt(variance);
  const double x = saddle.deviation / std::sqrt(2.0);
  const double gain = 0.5 * (scaled_erfc(tilt * x) - scaled_erfc((tilt + 1) * x));
  saddle.log_delta = log_scale - tilt * saddle.epsilon + std::log(std::max(gain, 1e-300));
  return saddle;
}

Saddle saddle_of_delta(std::span<const Copies> copies, double step, double log_delta) {
  return bisected(copies, step, [&](const Saddle& at) { return at.log_delta <= log_delta; });
}

Saddle saddle_of_epsilon(std::span<const Copies> copies, double step, double epsilon) {
  return bisected(copies, step, [&](const Saddle& at) { return at.epsilon >= epsilon; });
}

Interval interval_of(std::span<const Copies> copies, double step, const Saddle& saddle) {
  const double unit = std::sqrt(2 * kLogTail) / std::max(saddle.deviation, step);
  const double inf = std::numeric_limits<double>::infinity();
  Interval best{-inf, inf, unit, unit};
  const double normal = log_moment(copies, step, saddle.tilt);
  const auto look = [&](int power) {
    const double slope = std::ldexp(unit, power);
    const double high = (log_moment(copies, step, saddle.tilt + slope) - normal + kLogTail) / slope;
    if (high < best.high) {
      best.high = high;
      best.slope_high = slope;
    }
    const double low = -(log_moment(copies, step, saddle.tilt - slope) - normal + kLogTail) / slope;
    if (low > best.low) {
      best.low = low;
      best.slope_low = slope;
    }
  };
  for (int power = -6; power < 3; ++power) look(power);
  // A few losses, large and rare, beside many that are alike: steep slopes see nothing but those.
  for (int power = -7; power > -40 && best.high - best.low > kLongInterval * saddle.deviation; --power)
    look(power);
  return best;
}

}  // namespace fedarena::pld
