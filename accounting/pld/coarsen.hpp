#pragma once

#include <vector>

#include "accounting/pld/discretise.hpp"

namespace fedarena::pld {

/// The four quarters of the losses between two lattice points, for coarsening. Bounds that err on the safe
/// side.
struct Quarters {
  struct Quarter {
    double mass = 0;     ///< at most its probability
    double gain = 0;     ///< at most the integral of 1 - e^(node - Y)
    double deficit = 0;  ///< at least the integral of e^(next - Y) - 1
  };
  std::int64_t node = 0, next = 0;
  Quarter quarters[4];
};

/// A lattice whose delta is at most that of the law, for any composition: losses are told apart only up to
/// the lattice point that they are assigned to, which can only hide something, and what is left of a loss
/// above its point is rounded away. `cells` follow one another from below.
Lattice coarsen(const std::vector<Quarters>& cells);

}  // namespace fedarena::pld
