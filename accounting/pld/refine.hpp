#pragma once

#include <optional>
#include <span>

#include "accounting/pld/curve.hpp"
#include "accounting/pld/dominating_pair.hpp"

namespace fedarena::pld {

/// A composition in one direction: computed on finer and finer grids until bounds are near enough.
struct Query {
  std::span<const Term> terms;
  Direction direction = Direction::kRemove;
  double relative_error = 1e-3;
};

/// What a bound of epsilon may be away from the truth beside its relative error.
inline constexpr double kEpsilonFloor = 1e-9;

struct Bracket {
  double lower = 0;
  double upper = 0;
};

/// Bounds of epsilon at delta > 0. Stops early once the upper bound is at most `enough`.
Bracket bracket_epsilon(const Query& query, double delta, double enough);
/// Bounds of delta at epsilon >= 0.
Bracket bracket_delta(const Query& query, double epsilon, double enough);

}  // namespace fedarena::pld
