#include "results/record/validation_score.hpp"

#include <cmath>

namespace fedarena::results {

bool ValidationScore::better_than(const ValidationScore& other) const {
  if (std::isnan(value) || std::isnan(other.value)) return !std::isnan(value) && std::isnan(other.value);
  return criterion == kByValidationAccuracy ? value > other.value : value < other.value;
}

std::optional<ValidationScore> validation_score(const RoundRecord& round) {
  if (round.validation_accuracy) return ValidationScore{kByValidationAccuracy, *round.validation_accuracy};
  if (round.validation_loss) return ValidationScore{kByValidationLoss, *round.validation_loss};
  return std::nullopt;
}

}  // namespace fedarena::results
