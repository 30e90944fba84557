#include "results/table/tuning_text.hpp"

#include <fmt/format.h>

#include "results/text/number_format.hpp"

namespace fedarena::results {

std::string trials_text(const std::optional<Tuning>& tuning) {
  if (!tuning) return "none";
  return fmt::format("{} {}", tuning->trials, tuning->trials == 1 ? "trial" : "trials");
}

std::string search_text(const std::optional<Tuning>& tuning) {
  if (!tuning) return "none";
  return fmt::format("{} ({}, seed {}): {}", trials_text(tuning), tuning->search, tuning->seed,
                     sweep_text(tuning->chosen));
}

std::string chosen_text(const Tuning& tuning, const std::string& label) {
  std::string text;
  for (const Sweep& part : {shared_sweep(tuning.chosen), own_sweep(tuning.chosen, label)}) {
    for (const auto& [key, value] : part)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

std::string outcome_text(const Tuning& tuning, const std::string& label) {
  const std::string score =
      tuning.criterion == kByValidationAccuracy ? percent(tuning.score) + " %" : measured(tuning.score);
  return fmt::format("{} s and {} examples, {} ({})", human_seconds(tuning.seconds),
                     human_count(static_cast<double>(tuning.examples)), chosen_text(tuning, label), score);
}

}  // namespace fedarena::results
