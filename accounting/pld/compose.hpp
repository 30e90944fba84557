#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "accounting/pld/discretise.hpp"

namespace fedarena::pld {

/// Independent copies of one lattice.
struct Copies {
  const Lattice* lattice = nullptr;
  double count = 0;  ///< an integer >= 1
};

/// log sum mass * e^(tilt * loss)
double log_moment(const Lattice& lattice, double step, double tilt);
/// The sum over all copies of the above: the cumulant generating function of their sum.
double log_moment(std::span<const Copies> copies, double step, double tilt);

/// Bounds the probability that the sum of all copies, tilted by e^(tilt * loss) and normalised, lies at
/// `edge` or beyond: above for slope > 0, below for slope < 0 (Chernoff).
double tilted_tail(std::span<const Copies> copies, double step, double tilt, double slope, double edge);

/// The losses on which a composition is computed: offset + step * (first, ..., first + size - 1).
struct Window {
  double step = 0;
  double offset = 0;  ///< of position 0: the sum of the copies' offsets
  std::int64_t first = 0;
  std::size_t size = 0;  ///< a power of two
};

/// The law of the sum of all copies, tilted and wrapped round into the window:
///   P(sum = s) <= e^(log_scale - tilt s) * wrapped(s), with equality but for what was wrapped.
struct TiltedSum {
  Window window;
  double tilt = 0;
  std::vector<double> values;  ///< by position, each within `error` of wrapped
  double error = 0;
  double log_scale = 0;
  double log_error = 0;  ///< bounds the error of log_scale and of all tilted masses' logarithms together
};
TiltedSum compose(std::span<const Copies> copies, double tilt, const Window& window);

}  // namespace fedarena::pld
