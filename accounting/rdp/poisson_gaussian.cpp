// The sampled Gaussian mechanism: Mironov, Talwar, Zhang, "Rényi Differential Privacy of the Sampled Gaussian
// Mechanism", 2019, Theorem 4: with mu0 = N(0, s^2), mu = (1-q) mu0 + q N(1, s^2) and r = mu/mu0 the
// divergence of order a is log(A)/(a-1), A = E_mu0[r^a]; the other direction is never larger (Theorem 5).
// Differs from the paper: instead of its two series, whose terms cancel at fractional orders, the expectation
// is taken by the trapezoidal rule on the whole line, and what is summed has no cancellation:
//   A - 1 = b KL(mu || mu0) + E_mu[exp(b L) - 1 - b L],  b = a-1, L = log r,
// where both parts are sums of numbers that are not negative, so that A - 1 = 1e-17 is as precise as A =
// 1e17.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "accounting/rdp/divergences.hpp"

namespace fedarena {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kMostNodes = 1 << 20;

// (1 + x) log(1 + x) - x >= 0 to full precision, x > -1.
double entropy_gap(double x) {
  if (std::abs(x) > 0.1) return (1 + x) * std::log1p(x) - x;
  double sum = 0;
  for (int k = 18; k >= 2; --k) sum = 1.0 / (k * (k - 1.0)) - x * sum;
  return x * x * sum;
}

class Mechanism {
 public:
  Mechanism(double rate, double sigma)
      : q_(rate), sigma_(sigma), log_q_(std::log(rate)), log_rest_(std::log1p(-rate)) {
    crossing_ = 0.5 + sigma_ * sigma_ * (log_rest_ - log_q_);
    // Between the lines Im z = +-pi sigma^2, where r vanishes, and |r(x+iy)| <= r(x): an error relative to A
    // of exp(-2 pi d / h + d^2 / 2) for a strip of half-width d and a step h, both in units of sigma.
    const double strip = std::min(kPi * sigma_, std::sqrt(2 * kLeftOut));
    step_ = 2 * kPi * strip / (kLeftOut + strip * strip / 2) * sigma_;
    reach_ = std::sqrt(2 * kLeftOut) * sigma_;
  }

  double log_moment(double order) {
    const double b = order - 1;
    const double upper = order * (log_q_ + b / (2 * sigma_ * sigma_));  // log E_mu0[(q N(1)/N(0))^a] <= log A
    if (sigma_ <= kApart) return apart(b, upper);
    if (dominates(order, upper)) return upper;
    if ((order + 2 * reach_) / step_ > kMostNodes)
      return order * b / (2 * sigma_ * sigma_);  // without sampling
    const std::size_t nodes = grid_up_to(order);
    if (upper < 1) {
      const double excess = excess_moment(b, nodes);
      if (std::isfinite(excess)) return std::log1p(excess);
    }
    return log_of_powers(b, loss_, log_weight_, nodes);
  }

 private:
  // Up to here the parts of mu around 0 and 1 are so far apart, for every rate that a double can hold, that
  // nothing lies between them and r is 1-q on one and q exp(u) on the other.
  static constexpr double kApart = 0.02;

  double apart(double b, double upper) const {
    if (upper > 40) return upper;
    return std::log1p((1 - q_) * std::expm1(b * log_rest_) +
                      q_ * std::expm1(b * (log_q_ + (b + 1) / (2 * sigma_ * sigma_))));
  }

  // Whether A is its largest term exp(upper) to double precision: r = q exp(u) (1 + t), t = exp(-(z -
  // crossing) / sigma^2), where what 1 + t adds, the crossing and everything below it are negligible.
  bool dominates(double order, double upper) const {
    const double distance = order - crossing_, doubling = order * std::numbers::ln2;
    return distance > 0 && upper >= kLeftOut + doubling &&
           distance * distance / (2 * sigma_ * sigma_) >= kLeftOut + doubling &&
           (0.75 * order - crossing_) / (sigma_ * sigma_) >= kLeftOut + std::log(order);
  }

  // log r at z: no cancellation where r is near 1, near 1-q or large.
  double loss(double u, double x) const {
    if (std::abs(x) <= 0.5) return std::log1p(x);
    return u > 0 ? u + std::log(q_ + (1 - q_) * std::exp(-u)) : std::log((1 - q_) + q_ * std::exp(u));
  }

  // Extends the grid so that it holds all that matters for the order, and says how many nodes that is.
  std::size_t grid_up_to(double order) {
    const double first = -std::ceil(reach_ / step_);
    const auto wanted = static_cast<std::size_t>((std::max(order, 2.0) + reach_) / step_ - first) + 1;
    for (std::size_t j = loss_.size(); j < wanted; ++j) add_node((first + static_cast<double>(j)) * step_);
    return wanted;
  }

  void add_node(double z) {
    const double t = z / sigma_, u = (t - 0.5 / sigma_) / sigma_, x = q_ * std::expm1(u), l = loss(u, x);
    const double log_weight = std::log(step_ / sigma_ / std::sqrt(2 * kPi)) - t * t / 2;
    loss_.push_back(l);
    log_weight_.push_back(log_weight + l);
    weight_.push_back(std::exp(log_weight + l));
    // r (L - 1) + 1 = r L - x where r may overflow but its product with the weight does not.
    kl_ += x > 1 ? weight_.back() * (l - 1) + std::exp(log_weight) : std::exp(log_weight) * gap(x, l);
  }

  double gap(double x, double l) const { return x < -0.1 ? std::exp(l) * l - x : entropy_gap(x); }

  double excess_moment(double b, std::size_t nodes) const {
    // L ascends, so that the nodes with a small b L are neighbours.
    const auto end = loss_.begin() + static_cast<std::ptrdiff_t>(nodes);
    const auto index = [&](double limit) {
      return static_cast<std::size_t>(std::upper_bound(loss_.begin(), end, limit) - loss_.begin());
    };
    const std::size_t small = index(-kSmallExponent / b), large = index(kSmallExponent / b);
    double sum = 0;
    for (std::size_t j = 0; j < small; ++j) sum += weight_[j] * (std::exp(b * loss_[j]) - 1 - b * loss_[j]);
    for (std::size_t j = small; j < large; ++j) sum += weight_[j] * exp_minus_line_of_small(b * loss_[j]);
    for (std::size_t j = large; j < nodes; ++j) {
      sum += std::exp(b * loss_[j] + log_weight_[j]) - (1 + b * loss_[j]) * weight_[j];
    }
    return b * kl_ + sum;
  }

  double q_, sigma_, log_q_, log_rest_;
  double crossing_;  // where both parts of r are equal
  double step_, reach_;
  std::vector<double> loss_;        // L at each node, ascending
  std::vector<double> log_weight_;  // of mu
  std::vector<double> weight_;
  double kl_ = 0;
};

}  // namespace

std::vector<double> poisson_gaussian_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders) {
  Mechanism mechanism(rate, noise_multiplier);
  std::vector<double> moments;
  moments.reserve(orders.size());
  for (const double order : orders) {
    // What a double cannot tell from 0 is still not 0.
    moments.push_back(
        std::max(mechanism.log_moment(order), (order - 1) * std::numeric_limits<double>::min()));
  }
  return moments;
}

}  // namespace fedarena
