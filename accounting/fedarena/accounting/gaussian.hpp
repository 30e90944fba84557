#pragma once

#include <cstdint>
#include <span>

#include "fedarena/base/export.hpp"

namespace fedarena {

// The Gaussian mechanism without sampling, exactly (Balle & Wang, ICML 2018, Theorem 8). `noise_multiplier`
// is the noise's standard deviation over the distance of neighbours: sigma / C under add/remove, sigma / 2C
// under replace-one. All throw Error for an argument outside what is said here.

/// The least delta at epsilon >= 0; noise_multiplier >= 0, where 0 gives 1.
FEDARENA_API double gaussian_delta(double epsilon, double noise_multiplier);
/// The least epsilon >= 0 at 0 <= delta < 1, rounded up; infinity where delta or the noise is 0.
FEDARENA_API double gaussian_epsilon(double delta, double noise_multiplier);
/// The least noise multiplier, rounded up, that gives epsilon >= 0 at 0 < delta < 1; 0 where epsilon is
/// infinite.
FEDARENA_API double gaussian_noise_multiplier(double epsilon, double delta);

/// Gaussian mechanisms of one noise multiplier.
struct FEDARENA_API GaussianBlock {
  double noise_multiplier = 0;
  std::int64_t count = 0;
};
/// The noise multiplier of the one Gaussian mechanism that tells as much as all of them together, chosen in
/// any way: (sum count / z^2)^(-1/2) (Dong, Roth, Su, JRSS B 2022, Corollary 3.3). Infinity for none.
FEDARENA_API double composed_noise_multiplier(std::span<const GaussianBlock> blocks);

}  // namespace fedarena
