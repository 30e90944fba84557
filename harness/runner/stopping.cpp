#include "harness/runner/stopping.hpp"

namespace fedarena {

bool StoppingRule::improves(const results::ValidationScore& score) const {
  if (!best_ || best_->diverged || score.diverged) return !best_ || score.better_than(*best_);
  if (score.criterion == results::kByValidationAccuracy)
    return score.value > best_->value + rule_.improvement;
  return score.value < best_->value * (1 - rule_.improvement);
}

void StoppingRule::see(const results::RoundRecord& round) {
  const std::optional<results::ValidationScore> score = results::validation_score(round);
  if (!score || !stopped_.empty() || round.round % every_ != 0) return;
  if (improves(*score)) {
    best_ = score;
    best_round_ = round.round;
  }
  if (rule_.target_accuracy > 0 && round.validation_accuracy &&
      *round.validation_accuracy >= rule_.target_accuracy) {
    stopped_ = results::kStoppedByTarget;
  } else if (rule_.patience > 0 && round.round - best_round_ >= rule_.patience) {
    // Rounds are counted, not evaluations, so that the rule means the same however often is evaluated.
    stopped_ = results::kStoppedByPatience;
  }
}

}  // namespace fedarena
