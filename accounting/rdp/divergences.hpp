#pragma once

#include <span>
#include <vector>

namespace fedarena {

/// A bound on (order - 1) times the Rényi divergence of the Gaussian on a sample of fixed size under
/// replace-one, 0 < rate < 1, noise_multiplier > 0 (of the clip norm: neighbours move a sum by up to 2), for
/// each order > 1.
std::vector<double> fixed_size_log_moments(double rate, double noise_multiplier,
                                           std::span<const double> orders);

/// The same of the Poisson-sampled Gaussian: exact, and at high orders a bound.
std::vector<double> poisson_exchange_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders);

/// (order - 1) times the Rényi divergence of the Poisson-sampled Gaussian under add/remove, 0 < rate < 1,
/// noise_multiplier > 0, for each order > 1; all of them from one grid of the privacy loss.
std::vector<double> poisson_gaussian_log_moments(double rate, double noise_multiplier,
                                                 std::span<const double> orders);

}  // namespace fedarena
