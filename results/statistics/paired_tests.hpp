#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "results/statistics/statistics.hpp"

namespace fedarena::results {

/// left[i] - right[i] for finite values, rounded to a multiple of 2^-40 of the largest one: what is equal in
/// decimals (0.3 - 0.1 and 0.4 - 0.2) is equal here, so that ties and the lack of any spread are seen,
/// and sums of differences are exact. As many values on the left as on the right.
std::vector<double> paired_differences(std::span<const double> left, std::span<const double> right);

/// Student's paired t test.
struct PairedT {
  double statistic = 0;
  double p = 1;       ///< two-sided
  Interval interval;  ///< of the mean difference
};

/// The test that the mean of finite differences is 0, and the interval that holds the mean with probability
/// `level`, both exact where differences are normally distributed. None for fewer than two differences, and
/// for equal ones, which tell nothing of their spread.
std::optional<PairedT> paired_t_test(std::span<const double> differences, double level);

/// The value that Student's t with so many degrees of freedom (at least 1) exceeds with probability `tail`.
double students_t_above(double tail, double degrees);

/// How often differences are drawn again.
inline constexpr int kResamples = 10000;

/// The bootstrap interval of the mean of finite differences: percentiles of the means of kResamples
/// resamples, expanded for small numbers as Hesterberg (The American Statistician 69, 2015) proposes, who
/// takes from Student's t how far out they lie. No bootstrap reaches beyond the least and the largest
/// difference: see bootstrap_reach(). The same bits on every machine. None for fewer than two differences,
/// and for equal ones.
std::optional<Interval> bootstrap_interval(std::span<const double> differences, double level);

/// The most that any interval between the least and the largest of `count` differences can hold the centre of
/// a symmetric distribution with: 1 - 2^(1 - count), 75 % for three.
double bootstrap_reach(std::size_t count);

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

/// The p values of several tests, adjusted as Holm (1979) does: rejecting what is at most `a` rejects any
/// true hypothesis with probability at most `a`, however the tests depend on each other. In the order of the
/// input.
std::vector<double> holm_adjusted(std::span<const double> p_values);

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
