#pragma once

#include <limits>
#include <memory>
#include <vector>

namespace fedarena::pld {

// The privacy loss Y = log dP/dQ of one access under P, for a pair (P, Q) that dominates it; delta at epsilon
// is E[max(0, 1 - e^(epsilon - Y))].

/// Half the distance of 1 to the next double: the relative error of one operation.
inline constexpr double kRounding = std::numeric_limits<double>::epsilon() / 2;

/// What an interval of losses holds.
struct Part {
  double mass = 0;    ///< its probability under P
  double excess = 0;  ///< the integral of 1 - e^(from - Y) over it under P, >= 0
  double error = 0;   ///< bounds the relative error of both
};

/// A stretch of losses with a density, cut off where nothing that matters is left.
class Segment {
 public:
  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  virtual ~Segment() = default;

  virtual double lowest() const = 0;
  virtual double highest() const = 0;
  /// The probabilities under P that were cut off at either end, rounded up.
  virtual double below() const = 0;
  virtual double above() const = 0;
  /// Requires lowest() <= from <= to <= highest().
  virtual Part between(double from, double to) const = 0;
  /// The length of losses from here on across which the law changes by a part of `resolution`.
  virtual double stride(double loss, double resolution) const = 0;
  /// Where a point of a lattice of this step serves best: amid losses that lie closer together than its
  /// points.
  virtual double anchor(double step) const = 0;
  /// Bounds how far rounding moves the ends of an interval that begins at `loss`.
  virtual double slip(double loss) const = 0;
};

struct Atom {
  double loss = 0;
  double mass = 0;
};

struct Law {
  std::vector<std::unique_ptr<Segment>> segments;
  std::vector<Atom> atoms;
};

/// A normal variable and its shifted self: N = N(0, sigma^2), S = N(1, sigma^2), sampled at `rate` in (0, 1].
struct SampledNormal {
  double rate = 1;
  double sigma = 1;
  bool operator==(const SampledNormal&) const = default;
};

/// The loss of ((1 - rate) N + rate S, N): what a record's removal shows. Part of it only: that above 0, or
/// all. Normal tails beyond `tail` standard deviations are cut off.
std::unique_ptr<Segment> removal_loss(const SampledNormal& normal, double tail, bool above_zero_only);
/// The loss of (N, (1 - rate) N + rate S): what a record's addition shows. That below 0, or all.
std::unique_ptr<Segment> addition_loss(const SampledNormal& normal, double tail, bool below_zero_only);

/// The loss of ((1 - rate) N + rate S, (1 - rate) N + rate S'), S' = N(-1, sigma^2), rate < 1: what the
/// exchange of a record for its opposite shows.
std::unique_ptr<Segment> exchange_loss(const SampledNormal& normal, double tail);

}  // namespace fedarena::pld
