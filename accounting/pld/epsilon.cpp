#include <algorithm>
#include <cmath>
#include <utility>

#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/accounting/unproven.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "accounting/checks.hpp"
#include "accounting/pld/refine.hpp"

namespace fedarena {
namespace {

constexpr double kLeastPldDelta = 1e-250;

void check(const PldSettings& settings) {
  if (!(settings.relative_error >= 1e-6 && settings.relative_error <= 1)) {
    throw Error::of("relative error {}; allowed: 1e-6 to 1", settings.relative_error);
  }
}

// Gaussians alone have a closed form.
constexpr double kClosedForm = 1e-10;  // far above its error
std::optional<double> plain_sigma(const pld::Terms& terms) {
  if (terms.list.size() != 1) return std::nullopt;
  const auto* pair = std::get_if<pld::PoissonPair>(&terms.list.front().pair);
  return pair && pair->normal.rate == 1 ? std::optional(pair->normal.sigma) : std::nullopt;
}

// The sum of the largest losses: no epsilon is larger.
double largest_loss(const pld::Terms& terms, pld::Direction direction) {
  const auto largest = Overload{[](const pld::LaplacePair& pair) { return pair.epsilon; },
                                [](const pld::ResponsePair& pair) { return pair.epsilon; },
                                [&](const pld::PoissonPair& pair) {
                                  const bool adds = direction == pld::Direction::kAdd && pair.normal.rate < 1;
                                  return adds ? -std::log1p(-pair.normal.rate) : kInfinity;
                                },
                                [](const auto&) { return kInfinity; }};
  double sum = 0;
  for (const pld::Term& term : terms.list) sum += term.count * std::visit(largest, term.pair);
  return sum * (1 + 1e-12);
}

// At least delta at epsilon 0: the sum of the total variations of all pairs.
double total_variation(const pld::Terms& terms) {
  const auto of_normal = [](double rate, double sigma) {
    return rate * std::erf(0.5 / (sigma * std::sqrt(2.0)));
  };
  const auto variation = Overload{
      [](const pld::LaplacePair& pair) { return -std::expm1(-pair.epsilon / 2); },
      [](const pld::ResponsePair& pair) { return std::tanh(pair.epsilon / 2); },
      [&](const pld::ExchangePair& pair) { return of_normal(pair.normal.rate, pair.normal.sigma / 2); },
      [&](const auto& pair) { return of_normal(pair.normal.rate, pair.normal.sigma); }};
  double sum = 0;
  for (const pld::Term& term : terms.list) sum += term.count * std::visit(variation, term.pair);
  return sum * (1 + 1e-12);
}

// Of terms without a closed form, in the direction that is worse.
pld::Bracket bracket_of(const pld::Terms& terms, double delta, double relative_error) {
  pld::Query query{terms.list, pld::Direction::kRemove, relative_error};
  pld::Bracket bracket = pld::bracket_epsilon(query, delta, 0);
  const double most_added = largest_loss(terms, pld::Direction::kAdd);
  if (terms.two_sided && most_added > bracket.lower) {
    query.direction = pld::Direction::kAdd;
    const pld::Bracket other = pld::bracket_epsilon(query, delta, bracket.lower);
    bracket = {std::max(bracket.lower, other.lower),
               std::max(bracket.upper, std::min(most_added, other.upper))};
  }
  bracket.upper = std::min(bracket.upper, largest_loss(terms, pld::Direction::kRemove));
  return bracket;
}

// Rare and large losses beside many small ones are more than one grid can hold: another proven bound may be
// nearer then.
double by_rdp(std::span<const Access> accesses, double delta) {
  if (accesses.empty()) return kInfinity;
  RdpAccountant accountant(rdp_orders("default"));
  try {
    for (const Access& access : accesses) accountant.add(access.event, access.count);
  } catch (const Unproven&) {
    return kInfinity;
  }
  return accountant.epsilon(delta).epsilon;
}

// Of terms of which nothing is `added`; `accesses`: what they are all of, empty where that is not to be had.
PldEpsilon epsilon_of(const pld::Terms& terms, std::span<const Access> accesses, double delta,
                      const PldSettings& settings) {
  const auto result = [&](double upper, std::optional<double> lower) {
    // Where both are infinite, the difference is not a number, and the answer is exact.
    const bool wide = !lower || upper - *lower > settings.relative_error * *lower + pld::kEpsilonFloor;
    // No data need attain the pair of an exchange for any other unit where one is exchanged with nothing.
    const bool attained = settings.lower_bound && !terms.mixed;
    return PldEpsilon{upper, attained ? lower : std::nullopt, !wide};
  };
  if (terms.exact) return result(kInfinity, kInfinity);
  if (delta == 1 || total_variation(terms) <= delta) return result(0, 0);
  if (const auto sigma = plain_sigma(terms)) {
    const double exact = gaussian_epsilon(delta, *sigma);
    return result(exact * (1 + kClosedForm), exact * (1 - kClosedForm));
  }
  const double most = largest_loss(terms, pld::Direction::kRemove);
  if (delta == 0) return result(most, most * (1 - 2e-12));

  pld::Bracket bracket = bracket_of(terms, delta, settings.relative_error);
  if (bracket.upper > 2 * bracket.lower + pld::kEpsilonFloor)
    bracket.upper = std::min(bracket.upper, by_rdp(accesses, delta));
  const bool tight = !terms.any_laplace && !terms.any_fixed_size;
  if (tight) return result(bracket.upper, bracket.lower);
  const std::optional<pld::Terms> attained = settings.lower_bound ? pld::attained(terms) : std::nullopt;
  if (!attained) return result(bracket.upper, std::nullopt);
  return result(bracket.upper, bracket_of(*attained, delta, settings.relative_error).lower);
}

}  // namespace

PldEpsilon pld_epsilon(std::span<const Access> accesses, double delta, const PldSettings& settings) {
  check(settings);
  if (!(delta == 0 || (delta >= kLeastPldDelta && delta <= 1))) {
    throw Error::of("delta {}; allowed: 0, or {} to 1", delta, kLeastPldDelta);
  }
  pld::Terms terms = pld::terms_of(accesses);
  const double added = std::exchange(terms.added, 0);
  PldEpsilon result = epsilon_of(terms, added == 0 ? accesses : std::span<const Access>(), delta, settings);
  if (added == 0 || delta == 1) return result;
  return {result.upper + added, std::nullopt, false};
}

double pld_delta(std::span<const Access> accesses, double epsilon, const PldSettings& settings) {
  check(settings);
  if (!(epsilon >= 0)) throw Error::of("epsilon {}; allowed: 0 or more", epsilon);
  pld::Terms terms = pld::terms_of(accesses);
  epsilon -= std::exchange(terms.added, 0);
  if (terms.exact || epsilon < 0) return 1;
  if (const auto sigma = plain_sigma(terms)) return gaussian_delta(epsilon, *sigma) * (1 + kClosedForm);
  if (terms.list.empty() || epsilon >= largest_loss(terms, pld::Direction::kRemove)) return 0;

  pld::Query query{terms.list, pld::Direction::kRemove, settings.relative_error};
  pld::Bracket bracket = pld::bracket_delta(query, epsilon, 0);
  if (terms.two_sided && epsilon < largest_loss(terms, pld::Direction::kAdd)) {
    query.direction = pld::Direction::kAdd;
    bracket.upper = std::max(bracket.upper, pld::bracket_delta(query, epsilon, bracket.lower).upper);
  }
  return bracket.upper;
}

}  // namespace fedarena
