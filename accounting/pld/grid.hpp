#pragma once

#include <cstddef>
#include <span>

#include "accounting/pld/dominating_pair.hpp"

namespace fedarena::pld {

inline constexpr std::size_t kLeastGrid = std::size_t{1} << 10;
inline constexpr std::size_t kLargestGrid = std::size_t{1} << 22;  ///< 32 MiB an array

/// A distance of grid points, not much above `length` / `size` where a law is continuous, so that few or no
/// losses of pure mechanisms lie between two points: those cannot be rounded down but by a whole step.
double step_for(std::span<const Term> terms, double length, std::size_t size);

}  // namespace fedarena::pld
