#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fedarena::results {

/// Curves are kept at the false positive rates k / kRocSteps, k = 0 ... kRocSteps.
inline constexpr std::int64_t kRocSteps = 100;
using RocRates = std::array<double, static_cast<std::size_t>(kRocSteps) + 1>;

/// A receiver operating characteristic (Fawcett, An introduction to ROC analysis, 2006).
struct RocCurve {
  /// The exact area below the whole curve: the probability that an example of the class has a higher score
  /// than one of the rest, ties counted half (the Mann-Whitney statistic).
  double area = 0;
  /// At the false positive rate k / kRocSteps, linearly interpolated between the steps of the curve; where
  /// the curve rises straight up, its upper end. Never falling; the last one is 1.
  RocRates true_positive_rates = {};
  bool operator==(const RocCurve&) const = default;
};

/// One class against the rest.
struct ClassRoc {
  std::int64_t positives = 0;  ///< examples of the class
  std::int64_t negatives = 0;  ///< examples of all others
  std::optional<RocCurve> curve =
      {};  ///< none without positives, without negatives, or with a score that is nan
  bool operator==(const ClassRoc&) const = default;
};

/// Of a model on all test examples.
struct TestRoc {
  std::int64_t examples = 0;
  std::vector<ClassRoc> classes = {};  ///< by class; at least one
  bool operator==(const TestRoc&) const = default;
};

/// The characteristic of the class `positive`. `scores[i]`: how much speaks for that class in example i, of
/// which only the order matters; `labels[i]`: the class of example i. Equal scores are one step, so that the
/// order of the examples changes no bit. Throws Bug when the lengths differ.
ClassRoc class_roc(std::span<const double> scores, std::span<const std::int64_t> labels,
                   std::int64_t positive);

/// The unweighted mean, of areas and at each false positive rate, over the classes that have a curve; none
/// where none has.
std::optional<RocCurve> macro_average(const TestRoc& roc);

/// The least and the largest area of any curve that never falls and has these points.
struct AreaBounds {
  double least = 0, largest = 0;
};
AreaBounds area_bounds(const RocRates& true_positive_rates);

}  // namespace fedarena::results
