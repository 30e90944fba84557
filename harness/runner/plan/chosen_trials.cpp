#include "harness/runner/plan/chosen_trials.hpp"

#include <optional>
#include <vector>

#include "harness/runner/plan/planned_cell.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/tuning.hpp"

namespace fedarena {
namespace {

results::ValidationScore score_of(const results::RunDirectory& run) {
  const std::vector<results::RoundRecord> rounds = run.rounds();
  const auto score = rounds.empty() ? std::nullopt : results::validation_score(rounds.back());
  if (score) return *score;
  throw Error(Complaint{.place = {(run.path() / results::kRoundsFile).string()},
                        .found = "the last round of this trial has no score on validation examples",
                        .remedy = "Remove the folder to run the trial again."});
}

}  // namespace

std::map<std::string, ChosenTrial> choose_trials(const TuningPlan& plan,
                                                 const std::filesystem::path& folder) {
  std::map<std::string, ChosenTrial> chosen;
  std::map<std::string, results::ValidationScore> best;
  for (const PlannedCell& trial : plan_cells(plan.points)) {
    const auto run = results::RunDirectory::open(folder / trial.folder());
    const results::ValidationScore score = score_of(run);
    const std::string& label = trial.algorithm->label;
    const auto [present, first] = best.emplace(label, score);
    ChosenTrial& choice = chosen[label];
    if (first || score.better_than(present->second)) {
      present->second = score;
      choice.entry = *trial.algorithm;
      choice.tuning.chosen = trial.point->swept;
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

}  // namespace fedarena
