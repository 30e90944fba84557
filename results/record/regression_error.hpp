#pragma once

#include <cmath>

namespace fedarena::results {

/// The root mean squared error of a regression, from its loss: half the squared distance between output and
/// target, averaged over the test examples.
inline double root_mean_squared_error(double loss) { return std::sqrt(2 * loss); }

}  // namespace fedarena::results
