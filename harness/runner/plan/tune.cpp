#include "harness/runner/plan/tune.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

#include "harness/runner/plan/changed_cells.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/validation.hpp"
#include "results/table/notes.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// The trial of an algorithm that was best, and what all of its trials took.
struct ChosenTrial {
  AlgorithmEntry entry;  // with the settings of that trial
  results::Tuning tuning;
  std::optional<results::ValidationScore> score;
};

constexpr const char* kAllFinish =
    "All trials have to finish: what one of them cannot run with does not belong in [tuning].";

void check_finished(const fs::path& trial) {
  const std::optional<results::Summary> recorded = recorded_summary(trial);
  if (is_finished(recorded)) return;
  if (recorded && recorded->state == results::kFailed)
    throw Error::in(
        trial, fmt::format("this trial failed: {}", recorded->failure),
        {.remedy = fmt::format("Mend that, and run it again by the same command with `--stage trials "
                               "--resume`. {}",
                               kAllFinish)});
  throw Error::in(trial, "this trial is not finished, and all trials choose together",
                  {.remedy = "Run the trials first: the same command with `--stage trials --resume`."});
}

results::ValidationScore score_of(const results::RunDirectory& run) {
  const std::vector<results::RoundRecord> rounds = run.rounds();
  const auto score = rounds.empty() ? std::nullopt : results::validation_score(rounds.back());
  if (score) return *score;
  throw Error::in(run.path() / results::kRoundsFile,
                  "the last round of this trial has no score on validation examples",
                  {.remedy = "Remove the folder to run the trial again."});
}

// Reads the trials' run directories below `folder` and chooses one for each label: the one whose last round
// has the best accuracy on validation examples (on regression data, the smallest loss), of equal ones the
// first. Test examples have no part in it. Throws Error for directories that cannot be read.
std::map<std::string, ChosenTrial> choose_trials(const TuningPlan& plan,
                                                 const std::filesystem::path& folder) {
  std::map<std::string, ChosenTrial> chosen;
  for (const PlannedCell& trial : plan_cells(plan.points)) {
    const auto run = results::RunDirectory::open(folder / trial.folder());
    const results::ValidationScore score = score_of(run);
    ChosenTrial& choice = chosen[trial.algorithm->label];
    if (!choice.score || score.better_than(*choice.score)) {
      choice.score = score;
      choice.entry = *trial.algorithm;
      choice.tuning.chosen = trial.point->swept;
      choice.tuning.criterion = score.criterion;
      choice.tuning.score = score.diverged ? std::nullopt : std::optional(score.value);
    }
    const results::Summary& summary = run.summary();
    choice.tuning.examples += summary.examples;
    choice.tuning.seconds += summary.seconds;
    choice.tuning.search = plan.search;
    choice.tuning.trials = plan.trials;
    choice.tuning.seed = plan.seed;
  }
  return chosen;
}

}  // namespace

void check_untuned(const GridPoint& point, const TuningPlan& plan, const RunOptions& options) {
  std::set<std::string> tuned;
  for (const GridPoint& trial : plan.points) {
    for (const auto& [path, value] : trial.swept) tuned.insert(path);
  }
  check_folders(plan_cells({point}), options.out, options.resume, tuned);
}

RunOptions trial_options(RunOptions options) {
  // A path that ends in a slash has no last name, and that of "." or ".." is not the folder's.
  fs::path out = (options.out / "").lexically_normal().parent_path();
  if (const fs::path last = out.filename(); last.empty() || last == "." || last == "..")
    out = (fs::absolute(options.out) / "").lexically_normal().parent_path();
  options.out = out += results::kTrialsEnding;
  return options;
}

std::vector<PlannedCell> tune(const GridPoint& point, const TuningPlan& plan, const PluginHost& host,
                              const RunOptions& options, const std::atomic<bool>& stop) {
  check_untuned(point, plan, options);
  const RunOptions trials = trial_options(options);
  const std::vector<PlannedCell> cells = plan_cells(plan.points);
  check_folders(cells, trials.out, trials.resume);
  print(options.messages, "Tuning: {} trials of each algorithm ({}, seed {}), in {}\n", plan.trials,
        plan.search, plan.seed, trials.out.string());
  try {
    if (!run_cells(cells, host, trials, stop)) return {};
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.remedy += complaint.remedy.empty() ? "" : "\n";
    complaint.remedy += kAllFinish;
    throw Error(std::move(complaint));
  }
  return tuned_by_trials(point, plan, options);
}

std::vector<PlannedCell> tuned_by_trials(const GridPoint& point, const TuningPlan& plan,
                                         const RunOptions& options, const std::vector<std::string>& only) {
  const RunOptions trials = trial_options(options);
  const std::vector<PlannedCell> cells = plan_cells(plan.points);
  check_folders(cells, trials.out, true);
  for (const PlannedCell& trial : cells) check_finished(trials.out / trial.folder());
  const auto chosen = choose_trials(plan, trials.out);
  GridPoint tuned = point;
  for (AlgorithmEntry& entry : tuned.experiment.algorithms) {
    const ChosenTrial& choice = chosen.at(entry.label);
    print(options.messages, "{}: {}: {}, by {}\n", entry.label, results::trials_text(choice.tuning),
          results::outcome_text(choice.tuning, entry.label, !entry.is_private()), choice.tuning.criterion);
    entry = choice.entry;
  }
  if (std::ranges::any_of(tuned.experiment.algorithms, &AlgorithmEntry::is_private))
    print(options.messages, "note: {}\n", results::kTrialsNotCovered);
  std::vector<PlannedCell> planned = plan_cells({std::move(tuned)}, only);
  for (PlannedCell& cell : planned) cell.tuning = chosen.at(cell.algorithm->label).tuning;
  return planned;
}

}  // namespace fedarena
