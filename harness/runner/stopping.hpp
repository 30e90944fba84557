#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/config/experiment.hpp"
#include "results/record.hpp"

namespace fedarena {

/// Watches a run's rounds and says when a rule ends it. Looks at accuracies on validation examples alone: a
/// rule on test examples would choose its round on what it reports.
class StoppingRule {
 public:
  explicit StoppingRule(const Stopping& rule) : rule_(rule) {}

  /// Takes the next round; those without a validation accuracy tell nothing.
  void see(const results::RoundRecord& round);
  /// Which rule ends the run, as `Summary::stopped` names it; "" while none does.
  std::string stopped() const { return std::string(stopped_); }

 private:
  Stopping rule_;
  double best_ = -1;
  std::int64_t best_round_ = 0;
  std::string_view stopped_ = "";
};

}  // namespace fedarena
