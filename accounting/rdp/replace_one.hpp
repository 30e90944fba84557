#pragma once

#include <span>
#include <vector>

#include "fedarena/accounting/event.hpp"

namespace fedarena {

/// A bound on (order - 1) times the Rényi divergence of the sampled Gaussian under replace-one, 0 < rate < 1,
/// noise_multiplier > 0 (of the clip norm: neighbours move a sum by up to 2), for each order > 1.
std::vector<double> replace_one_log_moments(Sampling sampling, double rate, double noise_multiplier,
                                            std::span<const double> orders);

}  // namespace fedarena
