#pragma once

#include <utility>
#include <vector>

#include "accounting/pld/compose.hpp"

namespace fedarena::pld {

enum class Bound { kUpper, kLower };

/// A bound of delta at every epsilon in a window, from a tilted sum and all that it leaves out.
class Curve {
 public:
  /// The sum's tails outside of the window, after tilting.
  struct Tails {
    double above = 0, below = 0;
    double slope = 0;  ///< that bounds the one above, Chernoff's
  };

  /// `infinite` is the probability of an infinite loss, `slip` what rounding may have moved every sum.
  Curve(TiltedSum sum, Bound bound, const Tails& tails, double infinite, double slip);

  double lowest() const;   ///< first epsilon of the window
  double highest() const;  ///< last one
  /// At epsilon in [lowest(), highest()]. Falls in epsilon.
  double delta(double epsilon) const;
  /// Upper: an epsilon in [lowest(), highest()] at which delta() is at most this, the least within rounding;
  /// infinity where there is none. Lower: one below `near` at which delta() is more than this; -infinity
  /// where none is found.
  double epsilon(double delta, double near) const;

 private:
  double position(std::size_t index) const;
  double bounded(double epsilon) const;
  std::pair<double, double> crossing(double delta, double low, double high) const;

  Window window_;
  Bound bound_;
  double tilt_, log_scale_, log_error_, infinite_, slip_;
  double outside_ = 0;  // bounds the tilted tails' part in delta
  // From position i on, with s - i its distance: sums of e^(-tilt (s - i)) and of e^(-tilt (s - i)) (1 - e^(i
  // - s)).
  std::vector<double> mass_, gain_;
};

}  // namespace fedarena::pld
