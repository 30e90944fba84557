#pragma once

#include <cstddef>
#include <span>

namespace fedarena::results {

/// Up to so many differences, the distribution of ranks is counted; beyond, it is taken as normal.
inline constexpr std::size_t kMostExactRanks = 50;

/// Wilcoxon's signed-rank test.
struct SignedRank {
  double p = 1;          ///< two-sided
  double least = 1;      ///< the least p that so many differences can have, whatever they are
  std::size_t used = 0;  ///< differences other than 0
};

/// The test that differences are symmetric about 0 (Wilcoxon 1945). Zeros are left out, equal sizes share the
/// mean of their ranks, and p is that of all 2^used ways to choose signs, given the sizes: exact with ties,
/// too.
SignedRank signed_rank_test(std::span<const double> differences);

}  // namespace fedarena::results
