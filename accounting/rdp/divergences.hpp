#pragma once

#include <span>
#include <vector>

namespace fedarena {

/// The divergence of order > 1 between two outputs of k-ary randomised response, epsilon > 0. With k = 2 no
/// pure epsilon-DP mechanism has a larger one (Bun & Steinke, TCC 2016, Proposition 3.3).
double randomized_response_rdp(double categories, double epsilon, double order);

/// The divergence of the Laplace mechanism on the line (Mironov, CSF 2017, Proposition 6).
double laplace_rdp(double epsilon, double order);

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
