#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results/record/sweep.hpp"

namespace fedarena::results {

/// What trials are judged by, as `Tuning::criterion` names it.
inline constexpr std::string_view kByValidationAccuracy = "validation accuracy";
inline constexpr std::string_view kByValidationLoss = "validation loss";

/// How the settings of a run were chosen: by the `[tuning]` of its experiment file, whose trials are runs of
/// their own. A part of `summary.json`.
struct Tuning {
  std::string search;         ///< "grid" or "random"
  std::int64_t trials = 1;    ///< runs of this algorithm, each with other settings; at least 1
  std::int64_t seed = 0;      ///< that the trials ran under
  Sweep chosen;               ///< the settings of the best trial, by path; at least one, paths distinct
  std::string criterion;      ///< what was best: one of the two above
  double score = 0;           ///< of the best trial's last round: a fraction, or a loss, which may be nan
  std::int64_t examples = 0;  ///< gradients of clients' examples that all trials of this algorithm evaluated
  double seconds = 0;         ///< of all trials of this algorithm

  bool operator==(const Tuning&) const = default;
};

}  // namespace fedarena::results
