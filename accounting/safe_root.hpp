#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <boost/math/tools/toms748_solve.hpp>

namespace fedarena {

/// Where a monotone `excess`, > 0 at `unsafe` and <= 0 at `safe` (on either side of it), changes its sign: a
/// point at which it was seen to be <= 0, within `width` (absolute) of one where it was > 0.
template <typename Excess>
double safe_root(const Excess& excess, double unsafe, double safe, double width) {
  std::uintmax_t evaluations = 300;
  const bool rises = safe < unsafe;
  const double low = std::min(unsafe, safe), high = std::max(unsafe, safe);
  const auto narrow = [width](double a, double b) { return b - a <= width || std::nextafter(a, b) >= b; };
  const auto [left, right] =
      boost::math::tools::toms748_solve(excess, low, high, excess(low), excess(high), narrow, evaluations);
  return rises ? left : right;
}

}  // namespace fedarena
