#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "fedarena/accounting/event.hpp"

#include "accounting/pld/loss.hpp"

namespace fedarena::pld {

/// The normal pair under Poisson sampling and add/remove.
struct PoissonPair {
  SampledNormal normal;
  bool operator==(const PoissonPair&) const = default;
};
/// The pair of one unit exchanged for its opposite under Poisson sampling and replace-one.
struct ExchangePair {
  SampledNormal normal;
  bool operator==(const ExchangePair&) const = default;
};
/// What bounds samples of a fixed size under replace-one. Its curve is the larger one, at each epsilon, of
/// the two directions of a PoissonPair, each of which two neighbours have; no two neighbours have both.
struct FixedSizePair {
  SampledNormal normal;  ///< sigma over the distance of neighbours
  bool operator==(const FixedSizePair&) const = default;
};
struct LaplacePair {
  double epsilon = 0;
  bool operator==(const LaplacePair&) const = default;
};
struct ResponsePair {
  double epsilon = 0;
  double categories = 2;
  bool operator==(const ResponsePair&) const = default;
};

/// A dominating pair, `count` times.
struct Term {
  std::variant<PoissonPair, ExchangePair, FixedSizePair, LaplacePair, ResponsePair> pair;
  double count = 0;
};

/// All that several accesses come down to.
struct Terms {
  std::vector<Term> list;       ///< no two of one pair; plain Gaussians are one together
  bool exact = false;           ///< one of the accesses was: nothing else matters
  bool two_sided = false;       ///< adding a record and removing one differ
  bool any_fixed_size = false;  ///< a FixedSizePair is among them
  bool any_laplace = false;     ///< so is Laplace noise in R^n, as any mechanism of its epsilon
  bool mixed = false;           ///< some are for every exchange, others for that with nothing alone
  /// The sum of the pure epsilons above `kLargestPure`, which are not in the list: basic composition adds it
  /// to what the list has (Dwork and Roth 2014, Theorem 3.16).
  double added = 0;
};

/// The losses of a larger epsilon have probabilities that no double holds, and its own comes all but surely.
inline constexpr double kLargestPure = 500;

/// Checks the accesses and finds their pairs. Throws as pld.hpp says.
Terms terms_of(std::span<const Access> accesses);

/// Terms that some two neighbours have together, in each direction, so that what is at most their epsilon is
/// at most the true one. None where no such neighbours are known.
std::optional<Terms> attained(const Terms& terms);

enum class Direction { kRemove, kAdd };

/// The losses of a term in one direction, normal tails cut off at `tail` standard deviations.
Law law_of(const Term& term, Direction direction, double tail);

}  // namespace fedarena::pld
