#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/config/sections/experiment.hpp"
#include "results/record/record.hpp"
#include "results/record/sweep.hpp"

namespace fedarena {

/// Watches a run's rounds and says when a rule ends it. Looks at validation examples alone, by their accuracy
/// or on regression data by their loss: a rule on test examples would choose its round on what it reports.
class StoppingRule {
 public:
  /// `every`: the rounds between planned evaluations.
  explicit StoppingRule(const Stopping& rule, std::int64_t every = 1) : rule_(rule), every_(every) {}

  /// Takes the next round. Those without validation tell nothing, nor does one that was evaluated because it
  /// turned out to be the last.
  void see(const results::RoundRecord& round);
  /// Which rule ends the run, as `Summary::stopped` names it; "" while none does.
  std::string stopped() const { return std::string(stopped_); }

 private:
  // Accuracies by more than the improvement, losses by more than that part of the best one.
  bool improves(const results::ValidationScore& score) const;

  Stopping rule_;
  std::int64_t every_;
  std::optional<results::ValidationScore> best_;
  std::int64_t best_round_ = 0;
  std::string_view stopped_ = {};
};

}  // namespace fedarena
