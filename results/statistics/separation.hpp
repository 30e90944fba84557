#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "results/statistics/statistics.hpp"

namespace fedarena::results {

/// How well a score tells positives from negatives: that of a membership attack, members from non-members. A
/// higher score speaks for a positive; only the order of scores matters.
struct Separation {
  double auc = 0.5;              ///< Mann-Whitney, ties counted half
  Interval auc_interval = {};    ///< percentile bootstrap over examples, level `kIntervalLevel`
  double tpr_at_1_percent = 0;   ///< the largest true positive rate whose false positive rate is at most 1 %
  double tpr_at_01_percent = 0;  ///< the same at 0.1 % (Carlini et al., IEEE S&P 2022)
  double advantage = 0;          ///< the largest |true - false positive rate| (Yeom et al., CSF 2018)

  bool operator==(const Separation&) const = default;
};

/// How often the bootstrap draws examples again.
inline constexpr int kAreaResamples = 1000;

/// Of at least one positive and one negative; none with a score that is nan. `seed` names the bootstrap's
/// random stream, so that the same scores have the same interval everywhere.
std::optional<Separation> separation(std::span<const double> positives, std::span<const double> negatives,
                                     std::uint64_t seed);

/// The first of its numbers alone, for scores none of which is nan.
double area_below_roc(std::span<const double> positives, std::span<const double> negatives);

}  // namespace fedarena::results
