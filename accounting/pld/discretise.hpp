#pragma once

#include <cstdint>
#include <vector>

#include "accounting/pld/loss.hpp"

namespace fedarena::pld {

/// Probabilities of the losses offset + index * step. Points may repeat.
struct Lattice {
  struct Point {
    std::int64_t index = 0;
    double mass = 0;
  };
  std::vector<Point> points;
  double offset = 0;
};

/// A law between two lattices: for any number of independent copies, and together with any other laws, delta
/// by `upper` (and `infinite`) is at least that of the law, and delta by `lower` at most, once `slip` per
/// copy is added to epsilon or taken off.
struct Discretised {
  Lattice upper;        ///< connect-the-dots
  Lattice lower;        ///< coarsened and rounded down; its total is below 1
  double infinite = 0;  ///< upper's probability of an infinite loss
  double slip = 0;      ///< rounding of the positions
};

/// `step` > 0 is the distance of lattice points; where the law changes by less than a part of `resolution`
/// across several, all but every 2^n-th are left out.
Discretised discretise(const Law& law, double step, double resolution);

}  // namespace fedarena::pld
