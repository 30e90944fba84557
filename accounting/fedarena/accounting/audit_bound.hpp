#pragma once

#include <cstdint>

#include "fedarena/base/export.hpp"

namespace fedarena {

// What canaries in one run prove (Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run",
// NeurIPS 2023, arXiv:2305.08846, Theorem 5.2). Each of `canaries` was in the data with probability 1/2 on
// its own; `guesses` of them were guessed to be in or out, the others were left alone, and `right` guesses
// were right. Whom to guess must be a rule that was fixed before membership was looked at. Adjacency is that
// of a canary that is in or out. Both throw Error unless 0 <= right <= guesses <= canaries, 1 <= guesses,
// 0 <= delta < 1, 0 <= epsilon, and 0 < confidence < 1.

/// At least the probability that so many guesses, or more, are right when the run is (epsilon, delta)
/// private: min(1, P[B >= v] + 2 m delta max_{1 <= i <= v} P[v - i <= B < v] / i), where B is
/// Binomial(guesses, e^epsilon / (1 + e^epsilon)), m the canaries and v the right guesses. 1 at infinity.
FEDARENA_API double audit_p_value(std::int64_t canaries, std::int64_t guesses, std::int64_t right,
                                  double epsilon, double delta);

/// A lower bound on the epsilon of the run at that delta: one whose p-value is below 1 - confidence, as large
/// as bisection finds it (to 1e-9); 0 where there is none. Of honest runs at most a part of 1 - confidence
/// has a bound above the truth.
FEDARENA_API double audit_lower_bound(std::int64_t canaries, std::int64_t guesses, std::int64_t right,
                                      double delta, double confidence = 0.95);

}  // namespace fedarena
