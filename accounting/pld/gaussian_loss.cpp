#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "accounting/pld/loss.hpp"

namespace fedarena::pld {
namespace {

constexpr double kLogRootTwoPi = 0.91893853320467274178;
constexpr double kLargestExponent = 300;  // e^300 is finite, over any sampling rate too, and dwarfs 1

// Gauss-Legendre quadrature with 5 nodes on [0, 1]. Its error is f^(10) (5!)^4 / (11 (10!)^3) = 4e-13 f^(10)
// (Davis & Rabinowitz, 2.7.12); on panels across which the exponents below vary by 1/2 that is under 1e-14 of
// f.
constexpr std::array kNodes = {0.046910077030668003601, 0.23076534494715845448, 0.5, 0.76923465505284154552,
                               0.95308992296933199640};
constexpr std::array kWeights = {0.11846344252809454376, 0.23931433524968323402, 0.28444444444444444444,
                                 0.23931433524968323402, 0.11846344252809454376};
constexpr double kPanel = 0.5;
constexpr double kQuadratureError = 3e-14;

// The upper tail of a standard normal, rounded up.
double tail_above(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)) * (1 + 1e-12) + 1e-300; }

// In units of sigma: x = z / sigma, shift = 1 / sigma. The likelihood ratio S / N at x is e^(shift x -
// shift^2 / 2). Losses rise in a position, which is x, or -x where they fall in that.
class NormalLoss : public Segment {
 public:
  // The positions between which the law is kept.
  NormalLoss(const SampledNormal& normal, double from, double to)
      : rate_(normal.rate), shift_(1 / normal.sigma), from_(from), to_(to) {}
  double lowest() const override { return lowest_; }
  double highest() const override { return highest_; }
  double below() const override { return below_; }
  double above() const override { return above_; }
  Part between(double from, double to) const override {
    const double x0 = from <= lowest_ ? from_ : kept_position_of(from);
    const double x1 = to >= highest_ ? to_ : kept_position_of(to);
    const int count = panels(x0, x1);
    Part sum;
    double x = x0;
    for (int i = 0; i < count; ++i) {
      const double next = i + 1 == count ? x1 : x0 + (x1 - x0) * (i + 1) / count;
      const double loss = i == 0 ? from : std::max(from, loss_at(x));
      add_panel(panel(x, next - x, loss), loss - from, sum);
      x = next;
    }
    return sum;
  }
  double stride(double loss, double resolution) const override {
    return loss_at(kept_position_of(loss) + resolution) - loss;
  }

 protected:
  virtual double loss_at(double x) const = 0;
  virtual double position_of(double loss) const = 0;
  // Between the positions x, at which the loss is this, and x + width.
  virtual Part panel(double x, double width, double loss) const = 0;

  double log_ratio(double x) const { return shift_ * (x - shift_ / 2); }
  // log(1 - rate + rate e^ratio)
  double mixed(double ratio) const {
    if (rate_ == 1) return ratio;
    if (ratio > kLargestExponent) return ratio + std::log(rate_);
    return std::log1p(rate_ * std::expm1(ratio));
  }
  // The x at which mixed(log_ratio(x)) is `loss`; -infinity where all are larger.
  double position(double loss) const {
    double ratio = loss;
    if (rate_ < 1 && loss > kLargestExponent) ratio = loss - std::log(rate_);
    if (rate_ < 1 && loss <= kLargestExponent) {
      const double excess = std::expm1(loss) / rate_;
      if (excess <= -1) return -std::numeric_limits<double>::infinity();
      ratio = std::log1p(excess);
    }
    return ratio / shift_ + shift_ / 2;
  }
  // The losses crowd at log(1 - rate). That point a which they all have, seen as one, up to a + step / 2.
  double crowd(double step) const {
    if (rate_ == 1) return 0;
    double point = std::log1p(-rate_);
    for (int i = 0; i < 30; ++i) {
      const double x = position(point + step / 2);
      const double all = std::erfc(-x / std::sqrt(2.0));
      const double ratio = all > 0 ? std::erfc((shift_ - x) / std::sqrt(2.0)) / all : 0;
      point = std::log1p(rate_ * (ratio - 1));
    }
    return point;
  }
  double kept_position_of(double loss) const { return std::clamp(position_of(loss), from_, to_); }
  double slip_at(double loss, double x) const {
    const double ratio = log_ratio(x);
    const double slope = rate_ / (rate_ + (1 - rate_) * std::exp(-ratio));
    return 8 * kRounding * (std::abs(loss) + rate_ + slope * (std::abs(ratio) + shift_ * shift_ + 1));
  }
  // Densities at x of N and of `rate` S.
  double density(double x) const { return std::exp(-x * x / 2 - kLogRootTwoPi); }
  double shifted_density(double x) const {
    const double y = x - shift_;
    return rate_ * std::exp(-y * y / 2 - kLogRootTwoPi);
  }
  // What rounding x^2 / 2 and (x - shift)^2 / 2 does to them.
  double density_error(double x) const {
    return 4 * kRounding *
           (1 + std::min(x * x, 1e3) + std::min(std::abs(x - shift_) * (std::abs(x) + shift_), 1e6));
  }
  int panels(double x0, double x1) const {
    const double exponent = std::max(std::abs(x0), std::abs(x1)) + shift_ + 0.5;
    return std::max(1, static_cast<int>(std::ceil((x1 - x0) * exponent / kPanel)));
  }
  // `panel`, which begins `offset` above the interval's begin, as a part of the interval.
  static void add_panel(const Part& panel, double offset, Part& sum) {
    sum.mass += panel.mass;
    sum.excess +=
        offset == 0 ? panel.excess : std::exp(-offset) * panel.excess - std::expm1(-offset) * panel.mass;
    sum.error = std::max(sum.error, panel.error);
  }

  // A panel from x on, but for its error: `add` adds what the node at x + s has. Weights hold the change of
  // N's density from x to there.
  static Part quadrature(double x, double width, const auto& add) {
    Part part;
    for (std::size_t i = 0; i < kNodes.size(); ++i) {
      const double s = width * kNodes[i];
      add(part, width * kWeights[i] * std::exp(-s * (x + s / 2)), s);
    }
    return part;
  }
  // Under (1 - rate) N + rate S: what is cut off above and, where losses below are not left out, below.
  void cut_above() { above_ = (1 - rate_) * tail_above(to_) + rate_ * tail_above(to_ - shift_); }
  void cut_below() { below_ = (1 - rate_) * tail_above(-from_) + rate_ * tail_above(shift_ - from_); }
  void set_ends() {
    lowest_ = loss_at(from_);
    highest_ = loss_at(to_);
  }

  double rate_, shift_;
  double from_, to_;
  double lowest_ = 0, highest_ = 0, below_ = 0, above_ = 0;
};

class RemovalLoss final : public NormalLoss {
 public:
  RemovalLoss(const SampledNormal& normal, double from, double to, bool above_zero_only)
      : NormalLoss(normal, from, to) {
    set_ends();
    cut_above();
    if (!above_zero_only) cut_below();
  }
  double anchor(double step) const override { return from_ < shift_ / 2 ? crowd(step) : 0; }
  double slip(double loss) const override { return slip_at(loss, kept_position_of(loss)); }

 private:
  double loss_at(double x) const override { return mixed(log_ratio(x)); }
  double position_of(double loss) const override { return position(loss); }
  Part panel(double x, double width, double /*loss*/) const override {
    const double plain = (1 - rate_) * density(x);
    const double shifted = shifted_density(x);
    if (plain + shifted == 0) return {};
    Part part = quadrature(x, width, [&](Part& sum, double weight, double s) {
      const double growth = std::expm1(shift_ * s);
      sum.mass += weight * (plain + shifted * (1 + growth));
      sum.excess += weight * shifted * growth;
    });
    part.error = kQuadratureError + density_error(x);
    return part;
  }
};

// With y = shift x, e^loss is (rest + near e^y) / (rest + near e^-y), near / rest = odds e^(-shift^2 / 2):
// odd in x.
class ExchangeLoss final : public NormalLoss {
 public:
  ExchangeLoss(const SampledNormal& normal, double from, double to)
      : NormalLoss(normal, from, to), log_odds_(std::log(normal.rate) - std::log1p(-normal.rate)) {
    set_ends();
    cut_above();
    cut_below();
  }
  double anchor(double /*step*/) const override { return 0; }
  double slip(double loss) const override {
    const double y = shift_ * kept_position_of(loss);
    const double exponent = log_odds_ - shift_ * shift_ / 2;
    const double slope = 1 / (1 + std::exp(-exponent - y)) + 1 / (1 + std::exp(-exponent + y));
    const double rounded =
        std::abs(y) + shift_ * shift_ + std::abs(std::log(rate_)) + std::abs(log_odds_) + 1;
    return 8 * kRounding * (std::abs(loss) + slope * rounded);
  }

 private:
  double loss_at(double x) const override {
    if (x < 0) return -loss_at(-x);
    const double y = shift_ * x;
    const double near = log_ratio(x);
    const double rest = (1 - rate_) + rate_ * std::exp(near - 2 * y);
    if (near > kLargestExponent) return near + std::log(rate_) - std::log(rest);
    return std::log1p(rate_ * std::exp(near) * -std::expm1(-2 * y) / rest);
  }
  // y = loss/2 + asinh(sinh(loss/2) e^(shift^2 / 2) / odds), in logarithms as that may overflow.
  double position_of(double loss) const override {
    if (loss <= 0) return loss == 0 ? 0 : -position_of(-loss);
    const double half = loss / 2;
    const double log_sinh =
        half > 1 ? half + std::log1p(-std::exp(-loss)) - std::numbers::ln2 : std::log(std::sinh(half));
    const double exponent = log_sinh + shift_ * shift_ / 2 - log_odds_;
    const double rest = exponent > 20 ? exponent + std::numbers::ln2 : std::asinh(std::exp(exponent));
    return (half + rest) / shift_;
  }
  Part panel(double x, double width, double /*loss*/) const override {
    const double plain = (1 - rate_) * density(x);
    const double shifted = shifted_density(x);
    // The density of `rate` S' times e^loss.
    const double loss = loss_at(x);
    const double y = x + shift_;
    const double opposite = rate_ * std::exp(loss - y * y / 2 - kLogRootTwoPi);
    if (plain + shifted == 0) return {};
    Part part = quadrature(x, width, [&](Part& sum, double weight, double s) {
      const double growth = std::expm1(shift_ * s);
      sum.mass += weight * (plain + shifted * (1 + growth));
      sum.excess += weight * (shifted * growth - opposite * std::expm1(-shift_ * s));
    });
    part.error = kQuadratureError + density_error(x) + 4 * kRounding * (y * y + std::abs(loss));
    return part;
  }

  double log_odds_;
};

// Under N; its positions are -x.
class AdditionLoss final : public NormalLoss {
 public:
  AdditionLoss(const SampledNormal& normal, double from, double to, bool below_zero_only)
      : NormalLoss(normal, -to, -from) {
    set_ends();
    below_ = tail_above(-from_);
    if (!below_zero_only) above_ = tail_above(to_);
  }
  double anchor(double step) const override { return -to_ < shift_ / 2 ? -crowd(step) : 0; }
  double slip(double loss) const override { return slip_at(loss, -kept_position_of(loss)); }

 private:
  double loss_at(double x) const override { return -mixed(log_ratio(-x)); }
  double position_of(double loss) const override { return -position(-loss); }
  Part panel(double x, double width, double loss) const override {
    const double plain = density(x);
    const double shifted = shifted_density(-x) * std::exp(loss);
    if (plain == 0) return {};
    Part part = quadrature(x, width, [&](Part& sum, double weight, double s) {
      sum.mass += weight * plain;
      sum.excess -= weight * shifted * std::expm1(-shift_ * s);
    });
    part.error = kQuadratureError + density_error(-x);
    return part;
  }
};

}  // namespace

std::unique_ptr<Segment> removal_loss(const SampledNormal& normal, double tail, bool above_zero_only) {
  const double shift = 1 / normal.sigma;
  const double from = above_zero_only ? shift / 2 : (normal.rate == 1 ? shift - tail : -tail);
  return std::make_unique<RemovalLoss>(normal, from, shift + tail, above_zero_only);
}

std::unique_ptr<Segment> addition_loss(const SampledNormal& normal, double tail, bool below_zero_only) {
  const double from = below_zero_only ? 0.5 / normal.sigma : -tail;
  return std::make_unique<AdditionLoss>(normal, from, std::max(tail, from), below_zero_only);
}

std::unique_ptr<Segment> exchange_loss(const SampledNormal& normal, double tail) {
  return std::make_unique<ExchangeLoss>(normal, -tail, 1 / normal.sigma + tail);
}

}  // namespace fedarena::pld
