#pragma once

#include <optional>
#include <span>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

struct FEDARENA_API PldSettings {
  /// Wanted of upper bounds: upper - true <= relative_error * true + 1e-9. In [1e-6, 1]. Where the largest
  /// grid cannot certify it (hundreds of millions of steps), the bounds are valid but wider, and
  /// `PldEpsilon::as_near_as_wanted` is false.
  double relative_error = 1e-3;
  bool lower_bound = false;  ///< also return a lower bound, where one is known
};

struct FEDARENA_API PldEpsilon {
  double upper = 0;  ///< at least the true epsilon, whatever rounding did; may be infinity
  /// At most the epsilon of the worst data that the accesses admit; only when asked for, and only where one
  /// is known (docs/accounting.md): not for Laplace noise in R^n, n > 1.
  std::optional<double> lower;
  bool as_near_as_wanted = true;  ///< whether `upper` is certified to `PldSettings::relative_error`
};

// Privacy loss distributions: the losses log dP/dQ of a dominating pair of each access are put on a grid so
// that what they say is never less than the truth (connect-the-dots: Doroshenko, Ghazi, Kamath, Kumar,
// Manurangsi, PoPETs 2022), composed by Fourier transforms of exponentially tilted distributions, and read
// off with every error of truncation, wrap-around and floating point added (accounting/DECISIONS.md). Epsilon
// and delta are those of the dominating pairs, which are tight except: Laplace in R^n, n > 1 (any mechanism
// of its epsilon); samples of a fixed size under replace-one (Balle, Barthe, Gaboardi, NeurIPS 2018, Theorem
// 11).
//
// All throw Error for a number outside of what is said here and for a noise multiplier of a sampled Gaussian
// in (0, 1e-3); Unproven for sampling without replacement under add/remove, and where add/remove and
// replace-one meet.

/// The least epsilon >= 0 of all accesses together at delta in [0, 1], where delta is 0 or at least 1e-250.
/// Infinity for an exact access.
FEDARENA_API PldEpsilon pld_epsilon(std::span<const Access> accesses, double delta,
                                    const PldSettings& settings = {});
/// At least the delta of all accesses together at epsilon >= 0. 1 for an exact access.
FEDARENA_API double pld_delta(std::span<const Access> accesses, double epsilon,
                              const PldSettings& settings = {});

}  // namespace fedarena
