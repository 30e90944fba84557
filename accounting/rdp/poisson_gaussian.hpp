#pragma once

#include <span>
#include <vector>

namespace fedarena {

/// (order - 1) times the Rényi divergence of the Poisson-sampled Gaussian under add/remove, 0 < rate < 1,
/// noise_multiplier > 0, for each order > 1; all of them from one grid of the privacy loss.
std::vector<double> poisson_gaussian_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders);

}  // namespace fedarena
