#pragma once

#include <limits>

namespace fedarena {

/// An epsilon, divergence or order without a bound.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Error unless 0 <= delta < 1.
void check_delta(double delta);

/// Error for an epsilon that is negative or no number.
void check_epsilon(double epsilon);

/// Error unless it is finite and above 1.
void check_order(double order);

/// Error unless it is finite and not negative.
void check_noise_multiplier(double noise_multiplier);

}  // namespace fedarena
