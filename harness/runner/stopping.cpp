#include "harness/runner/stopping.hpp"

namespace fedarena {

void StoppingRule::see(const results::RoundRecord& round) {
  if (!round.validation_accuracy || !stopped_.empty()) return;
  const double accuracy = *round.validation_accuracy;
  if (best_ < 0 || accuracy > best_ + rule_.improvement) {
    best_ = accuracy;
    best_round_ = round.round;
  }
  if (rule_.target_accuracy > 0 && accuracy >= rule_.target_accuracy) {
    stopped_ = results::kStoppedByTarget;
  } else if (rule_.patience > 0 && round.round - best_round_ >= rule_.patience) {
    // Rounds are counted, not evaluations, so that the rule means the same however often is evaluated.
    stopped_ = results::kStoppedByPatience;
  }
}

}  // namespace fedarena
