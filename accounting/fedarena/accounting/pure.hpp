#pragma once

#include <cstdint>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// The epsilon of the event at delta 0; infinity where it has none, as a Gaussian. Throws Error for a number
/// outside what the event's documentation says.
FEDARENA_API double pure_epsilon(const Event& event);

// `count` > 0 accesses of pure `epsilon` >= 0 each; 0 <= delta < 1. All throw Error for arguments outside.

/// The least delta at `total_epsilon` >= 0 (Kairouz, Oh, Viswanath, ICML 2015, Theorem 3.3 at every epsilon:
/// the composition of binary randomised responses, which dominates all others).
FEDARENA_API double optimal_composition_delta(double epsilon, std::int64_t count, double total_epsilon);
/// The least epsilon at delta, by the same theorem, rounded up.
FEDARENA_API double optimal_composition_epsilon(double epsilon, std::int64_t count, double delta);
/// Dwork, Rothblum, Vadhan, FOCS 2010, Theorem III.3: sqrt(2 count log(1/delta)) epsilon + count epsilon
/// (e^epsilon - 1); may exceed count * epsilon. For comparison with the literature.
FEDARENA_API double advanced_composition_epsilon(double epsilon, std::int64_t count, double delta);

}  // namespace fedarena
