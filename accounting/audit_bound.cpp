// Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023 (arXiv:2305.08846),
// Theorem 5.2.
//
// Differs from the paper's code (its Appendix D): tails are incomplete beta functions and terms are kept as
// logarithms, so that a hundred thousand guesses lose nothing; the bisection ends at 1e-9.
#include "fedarena/accounting/audit_bound.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/beta.hpp>

#include "fedarena/base/error.hpp"

#include "accounting/checks.hpp"

namespace fedarena {
namespace {

constexpr double kBoundWidth = 1e-9;

void check_counts(std::int64_t canaries, std::int64_t guesses, std::int64_t right) {
  if (0 <= right && right <= guesses && 1 <= guesses && guesses <= canaries) return;
  throw Error(Complaint{
      .found = fmt::format("{} right of {} guesses about {} canaries", right, guesses, canaries),
      .allowed = "at least one guess, no more guesses than canaries, no more right ones than guesses"});
}

// max over 1 <= i <= right of P[right - i <= B < right] / i: the mean of the i terms below `right`. Terms
// rise to the mode and fall beyond it, so that means fall once a term is below the mean before it.
double largest_mean(std::int64_t guesses, std::int64_t right, double epsilon) {
  const auto r = static_cast<double>(guesses);
  const auto v = static_cast<double>(right);
  const double log_wrong = -epsilon - std::log1p(std::exp(-epsilon));  // log of 1 - q
  const double log_odds = -epsilon;                                    // log of (1 - q) / q
  // log P[B = right - 1]
  double log_term = std::lgamma(r + 1) - std::lgamma(v) - std::lgamma(r - v + 2) +
                    (v - 1) * (log_wrong - log_odds) + (r - v + 1) * log_wrong;
  double sum = 0, largest = 0;
  for (std::int64_t i = 1; i <= right; ++i) {
    const double term = std::exp(log_term);
    sum += term;
    const double mean = sum / static_cast<double>(i);
    if (mean < largest && term < mean) break;
    largest = std::max(largest, mean);
    const auto j = static_cast<double>(right - i);  // this term was P[B = j]
    log_term += std::log(j) - std::log(r - j + 1) + log_odds;
  }
  return largest;
}

}  // namespace

double audit_p_value(std::int64_t canaries, std::int64_t guesses, std::int64_t right, double epsilon,
                     double delta) {
  check_counts(canaries, guesses, right);
  check_delta(delta);
  if (!(epsilon >= 0))
    throw Error(Complaint{.found = fmt::format("epsilon is {}", epsilon), .allowed = "a number from 0"});
  if (right == 0 || std::isinf(epsilon)) return 1;
  const double wrong = std::exp(-epsilon) / (1 + std::exp(-epsilon));
  // P[B >= v] = I_q(v, r - v + 1), from the small side of q near 1.
  const double tail =
      boost::math::ibetac(static_cast<double>(guesses - right + 1), static_cast<double>(right), wrong);
  if (delta == 0) return tail;
  const double leaked = 2 * static_cast<double>(canaries) * delta;
  return std::min(1.0, tail + leaked * largest_mean(guesses, right, epsilon));
}

double audit_lower_bound(std::int64_t canaries, std::int64_t guesses, std::int64_t right, double delta,
                         double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw Error(Complaint{.found = fmt::format("confidence is {}", confidence),
                          .allowed = "a number above 0 and below 1"});
  }
  const auto rejected = [&](double epsilon) {
    return audit_p_value(canaries, guesses, right, epsilon, delta) < 1 - confidence;
  };
  if (!rejected(0)) return 0;
  double low = 0, high = 1;
  while (rejected(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > kBoundWidth) {
    const double middle = low + (high - low) / 2;
    (rejected(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace fedarena
