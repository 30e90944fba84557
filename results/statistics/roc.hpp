#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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

/// The characteristic of scores, of which only the order matters: those of positive and of negative examples.
/// Equal scores are one step, so that the order of the examples changes no bit. None without positives,
/// without negatives, or with a score that is nan.
std::optional<RocCurve> roc_curve(std::span<const double> positives, std::span<const double> negatives);

}  // namespace fedarena::results
