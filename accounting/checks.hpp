#pragma once

#include <limits>
#include <string_view>

namespace fedarena {

/// An epsilon, divergence or order without a bound.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Error unless 0 <= delta < 1.
void check_delta(double delta);

/// Error for an epsilon that is negative or no number.
void check_epsilon(double epsilon);

/// Error unless it is finite and above 1.
void check_order(double order);

/// Error unless it is finite and not negative. `what` it is, in the message: "the noise multiplier".
void check_not_negative(double value, std::string_view what);

}  // namespace fedarena
