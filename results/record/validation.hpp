#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "results/record/record.hpp"
#include "results/record/sweep.hpp"

namespace fedarena::results {

/// What rounds and trials are chosen by: the accuracy on validation examples; on regression data, which has
/// none, the loss.
struct ValidationScore {
  std::string_view criterion;  ///< kByValidationAccuracy or kByValidationLoss
  double value = 0;
  bool diverged = false;  ///< its validation loss is nan or infinite; such a model still has an accuracy

  /// What diverged is never better, and equal ones are not.
  bool better_than(const ValidationScore& other) const;
};

/// The score of a round; none without validation examples.
std::optional<ValidationScore> validation_score(const RoundRecord& round);

/// When validation examples end a run early; 0: never. `[stopping]` of an experiment file.
struct StoppingLimits {
  double target_accuracy = 0;  ///< of this accuracy on
  std::int64_t patience = 0;   ///< after that many rounds without an improvement
  double improvement = 0;      ///< more than that counts as one
};

/// Watches a run's rounds and says when a rule ends it. Looks at validation examples alone, by their accuracy
/// or on regression data by their loss: a rule on test examples would choose its round on what it reports.
class StoppingRule {
 public:
  /// `every`: the rounds between planned evaluations.
  StoppingRule(const StoppingLimits& limits, std::int64_t every) : limits_(limits), every_(every) {}

  /// Takes the next round. Those without validation tell nothing, nor does one that was evaluated because it
  /// turned out to be the last.
  void see(const RoundRecord& round);
  /// Which rule ends the run, as `Summary::stopped` names it, and after which round; "" and 0 while none
  /// does.
  std::string stopped() const { return std::string(stopped_); }
  std::int64_t last_round() const { return last_round_; }

 private:
  // Accuracies by more than the improvement, losses by more than that part of the best one.
  bool improves(const ValidationScore& score) const;

  StoppingLimits limits_;
  std::int64_t every_;
  std::optional<ValidationScore> best_;
  std::int64_t best_round_ = 0, last_round_ = 0;
  std::string_view stopped_ = {};
};

}  // namespace fedarena::results
