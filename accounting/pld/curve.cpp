#include "accounting/pld/curve.hpp"

#include <algorithm>
#include <cmath>

namespace fedarena::pld {

Curve::Curve(TiltedSum sum, Bound bound, const Tails& tails, double infinite, double slip)
    : window_(sum.window),
      bound_(bound),
      tilt_(sum.tilt),
      log_scale_(sum.log_scale),
      log_error_(sum.log_error),
      infinite_(infinite),
      slip_(slip) {
  const double sign = bound_ == Bound::kUpper ? 1 : -1;
  // A tilted mass counts for e^(-tilt x) (1 - e^-x) <= min(most, x) at x = s - epsilon; and x <= length in
  // the window, where the lower tail arrives by wrapping, while E[x; above] <= max(length, 1/slope) * tail.
  const double most = std::exp(tilt_ * std::log(tilt_ / (1 + tilt_))) / (1 + tilt_);
  const double length = window_.step * static_cast<double>(window_.size);
  const double above = tails.above * std::min(tilt_ > 0 ? most : 1, std::max(length, 1 / tails.slope));
  const double below = tails.below * std::min(tilt_ > 0 ? most : 1, length);
  // Wrapping only adds to the window. What it adds counts against the lower bound, what lies above for the
  // upper.
  outside_ = bound_ == Bound::kUpper ? above : -(above + below);

  mass_ = std::move(sum.values);
  for (double& value : mass_) value = std::max(0.0, value + sign * sum.error);
  gain_.resize(mass_.size());
  const double decay = std::exp(-tilt_ * window_.step);
  const double step_decay = std::exp(-window_.step);
  const double step_gain = -std::expm1(-window_.step);
  // All terms are positive: n steps cost 8 n roundings at most.
  for (std::size_t i = mass_.size() - 1; i-- > 0;) {
    gain_[i] = decay * (step_decay * gain_[i + 1] + step_gain * mass_[i + 1]);
    mass_[i] += decay * mass_[i + 1];
  }
  log_error_ += kRounding * (16 * static_cast<double>(window_.size) * (1 + tilt_ * window_.step) + 64);
}

double Curve::position(std::size_t index) const {
  return window_.offset +
         window_.step * static_cast<double>(window_.first + static_cast<std::int64_t>(index));
}
double Curve::lowest() const { return position(0); }
double Curve::highest() const { return position(window_.size - 1); }

double Curve::delta(double epsilon) const {
  const double sign = bound_ == Bound::kUpper ? 1 : -1;
  return bounded(std::clamp(epsilon - sign * slip_, lowest(), highest()));
}

// Without slip.
double Curve::bounded(double epsilon) const {
  const double offset =
      std::ceil((epsilon - window_.offset) / window_.step) - static_cast<double>(window_.first);
  const auto i = static_cast<std::size_t>(std::clamp(offset, 0.0, static_cast<double>(window_.size - 1)));
  const double above = std::max(0.0, position(i) - epsilon);
  const double inside =
      std::exp(-tilt_ * above) * (-std::expm1(-above) * mass_[i] + std::exp(-above) * gain_[i]);
  const double tilted = std::max(0.0, inside + outside_);
  const double sign = bound_ == Bound::kUpper ? 1 : -1;
  const double rounding = log_error_ + 8 * kRounding * (std::abs(log_scale_) + tilt_ * std::abs(epsilon) + 4);
  const double exponent = log_scale_ - tilt_ * epsilon + sign * rounding;
  const double finite = tilted > 0 ? std::exp(exponent + std::log(tilted)) : 0;
  return std::min(1.0, finite + (bound_ == Bound::kUpper ? infinite_ * (1 + 1e-9) + 1e-300 : 0));
}

// Narrows a stretch [low, high] at whose begin bounded() is above delta and at whose end it is not.
std::pair<double, double> Curve::crossing(double delta, double low, double high) const {
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (bounded(middle) <= delta ? high : low) = middle;
  }
  return {low, high};
}

double Curve::epsilon(double delta, double near) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (bound_ == Bound::kUpper) {
    if (!(bounded(highest()) <= delta)) return kNone;
    if (bounded(lowest()) <= delta) return lowest() + slip_;
    return crossing(delta, lowest(), highest()).second + slip_;
  }
  // Far below the losses that the tilt is meant for the bound is useless, so the search goes downwards.
  double high = std::clamp(near, lowest(), highest());
  for (double distance = window_.step; high > lowest(); distance *= 2) {
    const double low = std::max(lowest(), high - distance);
    if (bounded(low) > delta) return crossing(delta, low, high).first - slip_;
    high = low;
  }
  return -kNone;
}

}  // namespace fedarena::pld
