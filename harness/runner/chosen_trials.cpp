#include "harness/runner/chosen_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "harness/config/sweep.hpp"
#include "harness/runner/planned_cell.hpp"
#include "results/number_format.hpp"
#include "results/run_directory.hpp"
#include "results/tuning_text.hpp"

namespace fedarena {
namespace {

struct Score {
  std::string_view criterion = results::kByValidationLoss;
  double value = 0;

  // What diverged is the worst.
  double merit() const {
    if (std::isnan(value)) return -std::numeric_limits<double>::infinity();
    return criterion == results::kByValidationAccuracy ? value : -value;
  }
};

Score score_of(const results::RunDirectory& run) {
  const std::vector<results::RoundRecord> rounds = run.rounds();
  if (rounds.empty() || !rounds.back().validation_loss)
    throw Error(Complaint{.place = {(run.path() / results::kRoundsFile).string()},
                          .found = "the last round of this trial has no score on validation examples",
                          .remedy = "Remove the folder to run the trial again."});
  const results::RoundRecord& last = rounds.back();
  if (last.validation_accuracy) return {results::kByValidationAccuracy, *last.validation_accuracy};
  return {results::kByValidationLoss, *last.validation_loss};
}

// A table of values may hold training settings that the algorithm lacks or gives itself.
bool is_heeded(const AlgorithmEntry& entry, const std::string& path, const std::string& text) {
  constexpr std::string_view kTraining = "training.";
  if (!path.starts_with(kTraining)) return true;
  return std::any_of(entry.settings.begin(), entry.settings.end(), [&](const auto& setting) {
    return setting.first == path.substr(kTraining.size()) && config::plain_text(setting.second) == text;
  });
}

results::Sweep heeded(const PlannedCell& trial) {
  results::Sweep chosen;
  for (const auto& [path, text] : trial.point->swept) {
    if (is_heeded(*trial.algorithm, path, text)) chosen.emplace_back(path, text);
  }
  return chosen.empty() ? trial.point->swept : chosen;
}

}  // namespace

std::map<std::string, ChosenTrial> choose_trials(const TuningPlan& plan,
                                                 const std::filesystem::path& folder) {
  std::map<std::string, ChosenTrial> chosen;
  std::map<std::string, Score> best;
  for (const PlannedCell& trial : plan_cells(plan.points)) {
    const auto run = results::RunDirectory::open(folder / trial.folder());
    const Score score = score_of(run);
    const std::string& label = trial.algorithm->label;
    const auto [present, first] = best.emplace(label, score);
    ChosenTrial& choice = chosen[label];
    if (first || score.merit() > present->second.merit()) {
      present->second = score;
      choice.entry = *trial.algorithm;
      choice.tuning.chosen = heeded(trial);
      choice.tuning.criterion = score.criterion;
      choice.tuning.score = score.value;
    }
    const results::Summary& summary = run.summary();
    choice.tuning.examples += summary.examples.value_or(0);
    choice.tuning.seconds += summary.seconds;
    choice.tuning.search = plan.search;
    choice.tuning.trials = plan.trials;
    choice.tuning.seed = plan.seed;
  }
  return chosen;
}

std::string describe(const std::string& label, const ChosenTrial& chosen) {
  const results::Tuning& tuning = chosen.tuning;
  const std::string score = tuning.criterion == results::kByValidationAccuracy
                                ? results::percent(tuning.score) + " %"
                                : results::measured(tuning.score);
  return fmt::format("{}: {}, {} s, {} examples; best by {} ({}): {}", label, results::trials_text(tuning),
                     results::human_seconds(tuning.seconds),
                     results::human_count(static_cast<double>(tuning.examples)), tuning.criterion, score,
                     results::chosen_text(tuning, label));
}

}  // namespace fedarena
