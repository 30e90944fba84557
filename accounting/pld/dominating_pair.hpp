#pragma once

#include <span>
#include <variant>
#include <vector>

#include "fedarena/accounting/event.hpp"

#include "accounting/pld/loss.hpp"
#include "accounting/pld/losses.hpp"

namespace fedarena::pld {

/// The normal pair under Poisson sampling and add/remove.
struct PoissonPair {
  SampledNormal normal;
  bool operator==(const PoissonPair& other) const {
    return normal.rate == other.normal.rate && normal.sigma == other.normal.sigma;
  }
};
/// What bounds a sampled normal pair under replace-one, for both ways to sample.
struct ReplacePair {
  SampledNormal normal;  ///< sigma over the distance of neighbours
  bool operator==(const ReplacePair& other) const {
    return normal.rate == other.normal.rate && normal.sigma == other.normal.sigma;
  }
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
  std::variant<PoissonPair, ReplacePair, LaplacePair, ResponsePair> pair;
  double count = 0;
};

/// All that several accesses come down to.
struct Terms {
  std::vector<Term> list;  ///< no two of one pair; plain Gaussians are one together
  bool exact = false;      ///< one of the accesses was: nothing else matters
  bool two_sided = false;  ///< adding a record and removing one differ
};

/// Checks the accesses and finds their pairs. Throws as pld.hpp says.
Terms terms_of(std::span<const Access> accesses);

enum class Direction { kRemove, kAdd };

/// The losses of a term in one direction, normal tails cut off at `tail` standard deviations.
Law law_of(const Term& term, Direction direction, double tail);

}  // namespace fedarena::pld
