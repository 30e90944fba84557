#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/audit/comparison.hpp"
#include "results/audit/verify.hpp"
#include "results/record/validation.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// A trial and how its last round scores, which is what trials are chosen by.
struct Trial {
  const Summary* summary;
  ValidationScore score;
};

std::optional<Trial> scored(const FoundRun& run) {
  std::vector<RoundRecord> rounds;
  try {
    rounds = RunDirectory::open(run.path).rounds();
  } catch (const Error&) {
    // `verify` of that folder tells why.
  }
  const std::optional<ValidationScore> score =
      rounds.empty() ? std::nullopt : validation_score(rounds.back());
  return score ? std::optional<Trial>({&*run.summary, *score}) : std::nullopt;
}

// The trials of that run's algorithm that can be read to their end.
std::vector<Trial> trials_of(const Summary& summary, const std::vector<FoundRun>& all) {
  std::vector<Trial> trials;
  for (const FoundRun& run : all) {
    if (!run.summary || run.summary->state != kFinished) continue;
    if (run.summary->experiment != summary.experiment || run.summary->label != summary.label) continue;
    if (const auto trial = scored(run)) trials.push_back(*trial);
  }
  return trials;
}

const std::vector<FoundRun>& read_once(const fs::path& folder, TrialFolders& folders) {
  const auto [found, is_new] = folders.try_emplace(folder);
  std::error_code unreadable;
  if (is_new && fs::is_directory(folder, unreadable)) {
    try {
      found->second = find_runs({&folder, 1});
    } catch (const Error&) {
      // Without runs there is nothing to compare with.
    }
  }
  return found->second;
}

}  // namespace

Verification verify_tuning(const FoundRun& run, TrialFolders& folders) {
  Verification verification;
  if (!run.summary || !run.summary->tuning) return verification;
  const Tuning& tuning = *run.summary->tuning;
  // The first parent is the run itself, also where that is ".".
  fs::path folder = fs::absolute(run.path / "").lexically_normal().parent_path().parent_path();
  folder += kTrialsEnding;
  const std::vector<Trial> trials = trials_of(*run.summary, read_once(folder, folders));
  if (std::ssize(trials) != tuning.trials) {
    verification.notes.push_back(fmt::format(
        "what tuning chose is not compared with its trials: of {}, {} {} beside the run's folder, "
        "in one of its name and \"{}\"",
        counted(tuning.trials, "trial"), trials.size(), trials.size() == 1 ? "is" : "are", kTrialsEnding));
    return verification;
  }
  const Trial* best = &trials.front();
  const Trial* chosen = nullptr;
  std::int64_t examples = 0;
  double seconds = 0;
  for (const Trial& trial : trials) {
    if (trial.score.better_than(best->score)) best = &trial;
    if (trial.summary->sweep == tuning.chosen) chosen = &trial;
    examples += trial.summary->examples;
    seconds += trial.summary->seconds;
  }
  // Of equal ones any: which was the first, only the experiment file tells.
  if (chosen != nullptr && !best->score.better_than(chosen->score)) best = chosen;
  Comparison compare(verification, run.path / kSummaryFile);
  compare.text("tuning.chosen", sweep_text(tuning.chosen), sweep_text(best->summary->sweep));
  compare.text("tuning.criterion", tuning.criterion, std::string(best->score.criterion));
  compare.close("tuning.score", tuning.score,
                best->score.diverged ? std::nullopt : std::optional(best->score.value));
  compare.same("tuning.seed", tuning.seed, best->summary->seed);
  compare.same("tuning.examples", tuning.examples, examples);
  compare.close("tuning.seconds", tuning.seconds, seconds);
  return verification;
}

}  // namespace fedarena::results
