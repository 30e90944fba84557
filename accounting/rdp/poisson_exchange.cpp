// The Poisson-sampled Gaussian under replace-one: with P = (1-q) N(0, s^2) + q N(1, s^2), Q the same around
// -1 and r = P/Q the divergence of order a is log(A)/(a-1), A = E_Q[r^a]: P and Q are two neighbours, and no
// others are told apart better (docs/accounting.md, "Poisson sampling under replace-one"). As P and Q mirror
// each other,
//   A - 1 = integral over z > 0 of Q (r^a - 1) (1 - r^(1-a)),
// no part of which is negative, by the trapezoidal rule: in a strip around the line of half-width d,
// |P^a Q^(1-a)| exceeds its value on the line by at most exp(d^2/(2 s^2)) cos(d/(2 s^2))^(1-a).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "accounting/checks.hpp"
#include "accounting/rdp/divergences.hpp"

namespace fedarena {
namespace {

constexpr double kMostPoints = 1 << 15;
constexpr double kHighestOrder = 2048;

class Exchange {
 public:
  Exchange(double rate, double sigma) : q_(rate), sigma_(sigma), reach_(std::sqrt(2 * kLeftOut) * sigma) {
    const double variance = sigma * sigma;
    for (largest_ = kHighestOrder; largest_ >= 2; largest_ /= 2) {
      // -log cos(t) <= 0.62 t^2 up to t = 1.
      const double growth = (0.5 + 0.155 * (largest_ - 1) / variance) / variance;
      const double strip = std::min(std::sqrt(kLeftOut / growth), 2 * variance);
      step_ = 2 * std::numbers::pi * strip / (kLeftOut + growth * strip * strip);
      if (end(largest_) / step_ <= kMostPoints) return;
    }
  }

  // Up to here the grid is fine enough.
  double largest_order() const { return largest_; }

  double log_moment(double order) {
    const auto points = static_cast<std::size_t>(end(std::max(order, 2.0)) / step_) + 1;
    for (std::size_t i = loss_.size(); i < points; ++i) add_point(static_cast<double>(i + 1) * step_);
    const double b = order - 1;
    double scale = -kInfinity;
    for (std::size_t i = 0; i < points; ++i) scale = std::max(scale, log_weight_[i] + order * loss_[i]);
    double sum = 0;
    for (std::size_t i = 0; i < points; ++i) {
      sum += std::exp(log_weight_[i] + order * loss_[i] - scale) * std::expm1(-order * loss_[i]) *
             std::expm1(-b * loss_[i]);
    }
    return log_one_plus_exp(scale + std::log(sum));
  }

 private:
  // Beyond it nothing counts. Where Q is N(0), P^a Q^(1-a) is centred at most at a; below a rate of one half
  // Q is that for all z > 0, above it is N(-1) up to some z, and the centre may be 2a - 1.
  double end(double order) const { return (q_ > 0.5 ? 2 * order : order) + reach_; }

  void add_point(double z) {
    const double variance = sigma_ * sigma_;
    const double near = (z - 0.5) / variance, far = std::exp(-(z + 0.5) / variance);
    const double rest = (1 - q_) + q_ * far;  // Q over N(0)
    // log(1 + (P - Q)/Q), whose exponential might overflow.
    const double share = q_ * -std::expm1(-2 * z / variance) / rest;
    loss_.push_back(near <= 300 ? std::log1p(std::exp(near) * share)
                                : log_one_plus_exp(near + std::log(share)));
    log_weight_.push_back(std::log(step_ * rest / (sigma_ * std::sqrt(2 * std::numbers::pi))) -
                          z * z / (2 * variance));
  }

  double q_, sigma_, reach_;
  double step_ = 0, largest_ = 0;
  std::vector<double> loss_;        // log r at step, 2 step, ...
  std::vector<double> log_weight_;  // of Q
};

}  // namespace

std::vector<double> poisson_exchange_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders) {
  Exchange exchange(rate, noise_multiplier);
  std::vector<double> high, moments;
  for (const double order : orders) {
    if (order > exchange.largest_order()) high.push_back(order);
  }
  // Q >= (1-q) N(0), so that A is at most (1-q)^(1-a) times the moment under add/remove: at high orders,
  // where P/Q is decided far from -1, hardly more than A.
  const std::vector<double> removals = poisson_gaussian_log_moments(rate, noise_multiplier, high);
  std::size_t next = 0;
  for (const double order : orders) {
    const double b = order - 1;
    const double unsampled = 2 * b * order / (noise_multiplier * noise_multiplier);
    const double moment = order > exchange.largest_order() ? removals[next++] - b * std::log1p(-rate)
                                                           : exchange.log_moment(order);
    moments.push_back(std::max(std::min(moment, unsampled), b * std::numeric_limits<double>::min()));
  }
  return moments;
}

}  // namespace fedarena
