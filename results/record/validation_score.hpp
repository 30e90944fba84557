#pragma once

#include <optional>
#include <string_view>

#include "results/record/record.hpp"

namespace fedarena::results {

/// What rounds and trials are chosen by: the accuracy on validation examples; on regression data, which has
/// none, the loss.
struct ValidationScore {
  std::string_view criterion;  ///< kByValidationAccuracy or kByValidationLoss
  double value = 0;

  /// What diverged is never better, and equal ones are not.
  bool better_than(const ValidationScore& other) const;
};

/// The score of a round; none without validation examples.
std::optional<ValidationScore> validation_score(const RoundRecord& round);

}  // namespace fedarena::results
