#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "results/statistics/paired_tests.hpp"

namespace fedarena::results {

/// The probability with which a table of comparisons may show some difference where there is none.
inline constexpr double kErrorRate = 0.05;

/// Fewer differences than these are tested, but nothing is said of them.
inline constexpr std::size_t kLeastSeeds = 3;

/// What a comparison shows of the mean difference.
enum class Finding { kNoStatement, kNoDifference, kAboveZero, kBelowZero };

/// The tests of one pair, and what they show.
struct PairJudgement {
  std::optional<PairedT> t;         ///< none where differences are fewer than two or all equal
  std::optional<SignedRank> ranks;  ///< none for fewer than two differences
  std::optional<double> p;          ///< what decides: that of t, or of the ranks where there is no t
  std::optional<double> holm;       ///< the same, adjusted for all pairs; none below kLeastSeeds differences
  Finding finding = Finding::kNoStatement;
};

/// Judges all pairs of a table together. The rule: a difference is shown where the Holm-adjusted p of the
/// paired t test is at most kErrorRate and there are at least kLeastSeeds differences. Differences that are
/// all equal have no t; there, as a few values on a coarse scale may agree by chance, the signed ranks
/// decide. Pairs of fewer differences count as pairs that show nothing.
std::vector<PairJudgement> judge_pairs(std::span<const std::vector<double>> differences);

}  // namespace fedarena::results
