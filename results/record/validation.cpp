#include "results/record/validation.hpp"

#include <cmath>

namespace fedarena::results {

bool ValidationScore::better_than(const ValidationScore& other) const {
  if (diverged || other.diverged) return !diverged && other.diverged;
  return criterion == kByValidationAccuracy ? value > other.value : value < other.value;
}

std::optional<ValidationScore> validation_score(const RoundRecord& round) {
  const bool diverged = round.validation_loss && !std::isfinite(*round.validation_loss);
  if (round.validation_accuracy)
    return ValidationScore{kByValidationAccuracy, *round.validation_accuracy, diverged};
  if (round.validation_loss) return ValidationScore{kByValidationLoss, *round.validation_loss, diverged};
  return std::nullopt;
}

bool StoppingRule::improves(const ValidationScore& score) const {
  if (!best_ || best_->diverged || score.diverged) return !best_ || score.better_than(*best_);
  if (score.criterion == kByValidationAccuracy) return score.value > best_->value + limits_.improvement;
  return score.value < best_->value * (1 - limits_.improvement);
}

void StoppingRule::see(const RoundRecord& round) {
  const std::optional<ValidationScore> score = validation_score(round);
  if (!score || !stopped_.empty() || round.round % every_ != 0) return;
  if (improves(*score)) {
    best_ = score;
    best_round_ = round.round;
  }
  if (limits_.target_accuracy > 0 && round.validation_accuracy && !score->diverged &&
      *round.validation_accuracy >= limits_.target_accuracy) {
    stopped_ = kStoppedByTarget;
  } else if (limits_.patience > 0 && round.round - best_round_ >= limits_.patience) {
    // Rounds are counted, not evaluations, so that the rule means the same however often is evaluated.
    stopped_ = kStoppedByPatience;
  }
  if (!stopped_.empty()) last_round_ = round.round;
}

}  // namespace fedarena::results
