#pragma once

#include <limits>

namespace fedarena {

/// An epsilon, divergence or order without a bound.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace fedarena
