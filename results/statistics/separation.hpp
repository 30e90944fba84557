#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "results/statistics/statistics.hpp"

// How well a score tells positives from negatives: that of a membership attack, members from non-members. A
// higher score speaks for a positive; only the order of scores matters, and equal scores are one step, so
// that the order of the examples changes no bit.
namespace fedarena::results {

/// Curves are kept at the false positive rates k / kRocSteps, k = 0 ... kRocSteps.
inline constexpr std::int64_t kRocSteps = 100;
using RocRates = std::array<double, static_cast<std::size_t>(kRocSteps) + 1>;

/// A receiver operating characteristic (Fawcett, An introduction to ROC analysis, 2006).
struct RocCurve {
  /// The exact area below the whole curve: the probability that a positive example has a higher score than a
  /// negative one, ties counted half (the Mann-Whitney statistic).
  double area = 0;
  /// At the false positive rate k / kRocSteps, linearly interpolated between the steps of the curve; where
  /// the curve rises straight up, its upper end. Never falling; the last one is 1.
  RocRates true_positive_rates = {};
  bool operator==(const RocCurve&) const = default;
};

/// Of at least one positive and one negative; none with a score that is nan.
std::optional<RocCurve> roc_curve(std::span<const double> positives, std::span<const double> negatives);

/// What tables say of that curve.
struct Separation {
  double auc = 0.5;              ///< its area
  Interval auc_interval = {};    ///< percentile bootstrap over examples, level `kIntervalLevel`
  double tpr_at_1_percent = 0;   ///< the largest true positive rate whose false positive rate is at most 1 %
  double tpr_at_01_percent = 0;  ///< the same at 0.1 % (Carlini et al., IEEE S&P 2022)
  double advantage = 0;          ///< the largest |true - false positive rate| (Yeom et al., CSF 2018)

  bool operator==(const Separation&) const = default;
};

/// How often the bootstrap draws examples again.
inline constexpr int kAreaResamples = 1000;

/// None where there is no curve. `seed` names the bootstrap's random stream, so that the same scores have the
/// same interval everywhere.
std::optional<Separation> separation(std::span<const double> positives, std::span<const double> negatives,
                                     std::uint64_t seed);

/// The area alone, for scores none of which is nan.
double area_below_roc(std::span<const double> positives, std::span<const double> negatives);

}  // namespace fedarena::results
