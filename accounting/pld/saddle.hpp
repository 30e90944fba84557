#pragma once

#include <span>

#include "accounting/pld/compose.hpp"

namespace fedarena::pld {

// Where to look: nothing here needs to be exact, every bound holds for any tilt and any window.

/// What the saddle-point method says of a composition at one tilt (Alghamdi et al., ICML 2023; Daniels 1987).
struct Saddle {
  double tilt = 0;
  double epsilon = 0;    ///< mean of the tilted sum
  double deviation = 0;  ///< its standard deviation
  double log_delta = 0;  ///< delta at epsilon, roughly
};
Saddle saddle_at(std::span<const Copies> copies, double step, double tilt);
/// That whose delta is `log_delta`; tilt 0 where delta is too large for one.
Saddle saddle_of_delta(std::span<const Copies> copies, double step, double log_delta);
/// That whose epsilon is this; tilt 0 where the sum's mean is larger.
Saddle saddle_of_epsilon(std::span<const Copies> copies, double step, double epsilon);

/// Losses between which the tilted sum lies but for a part of e^-30 or so, with the slopes that prove it.
struct Interval {
  double low = 0, high = 0;
  double slope_low = 0, slope_high = 0;
};
Interval interval_of(std::span<const Copies> copies, double step, const Saddle& saddle);

}  // namespace fedarena::pld
