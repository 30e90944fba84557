// What rounds tell of tests, against the settings: which there are, of how many classes, and the end that
// rules about validation examples make.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/expected_inputs.hpp"
#include "results/record/validation.hpp"
#include "results/statistics/statistics.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// The end of a finished run: by a rule, before the last planned round.
void compare_end(const Summary& summary, std::span<const RoundRecord> rounds,
                 const ResolvedSettings& settings, Comparison& compare) {
  StoppingRule rule({.target_accuracy = settings.number<double>("stopping.target_accuracy", 0),
                     .patience = settings.number<std::int64_t>("stopping.patience", 0),
                     .improvement = settings.number<double>("stopping.improvement", 0)},
                    std::max<std::int64_t>(settings.number<std::int64_t>("evaluation.every", 1), 1));
  for (const RoundRecord& round : rounds) rule.see(round);
  compare.text("stopped_by", summary.stopped, rule.last_round() < summary.rounds ? rule.stopped() : "");
  if (rule.last_round() > 0) compare.same("rounds_done", summary.rounds_done, rule.last_round());
}

// How many classes there are; none where nobody here knows.
std::optional<std::int64_t> classes_of(const std::optional<RecordedPartition>& card,
                                       const ResolvedSettings& settings) {
  if (card && !card->class_counts.empty()) return std::ssize(card->class_counts.front());
  return expected_classes(settings);
}

// The largest macro F1 with these accuracies of classes: all answers that fall on a class are right.
double most_macro_f1(const std::vector<std::optional<double>>& accuracies) {
  std::vector<double> scores;
  for (const std::optional<double>& accuracy : accuracies) {
    if (accuracy) scores.push_back(2 * *accuracy / (1 + *accuracy));
  }
  return scores.empty() ? 0 : mean(scores);
}

// Whether rounds tell an accuracy of each class where they tell one of all, which is among these: a mean.
// `exact`: whether that mean is compared by itself.
void compare_classes(std::span<const RoundRecord> rounds, std::optional<std::int64_t> classes, bool exact,
                     const Comparison& compare) {
  constexpr double kRounding = 1e-9;
  Kinds kinds(compare);
  for (const RoundRecord& round : rounds) {
    const std::string whose = fmt::format(" of round {}", round.round);
    const bool due = round.test_accuracy.has_value();
    kinds.result(round.classes.has_value() == due, "class_accuracy", whose,
                 round.classes ? "a list" : "absent", due ? "a list" : "absent");
    if (!round.classes || !due) continue;
    const std::vector<std::optional<double>>& accuracies = round.classes->accuracy;
    if (!classes) classes = std::ssize(accuracies);  // all rounds alike
    kinds.result(std::ssize(accuracies) == *classes, "class_accuracy", whose,
                 counted(accuracies.size(), "class", "classes"), *classes);
    double least = 1, most = 0;
    for (const std::optional<double>& accuracy : accuracies) {
      least = std::min(least, accuracy.value_or(1));
      most = std::max(most, accuracy.value_or(0));
    }
    kinds.result(
        exact || (least - kRounding <= *round.test_accuracy && *round.test_accuracy <= most + kRounding),
        "test_accuracy", whose, *round.test_accuracy,
        fmt::format("from {} to {}, as that of the classes", exact_number(least), exact_number(most)));
    const double most_f1 = most_macro_f1(accuracies);
    kinds.result(round.classes->macro_f1 <= most_f1 + kRounding, "macro_f1", whose, round.classes->macro_f1,
                 fmt::format("at most {}, by the accuracies of the classes", exact_number(most_f1)));
  }
  kinds.conclude();
}

// Whether rounds that were evaluated tell of validation and of clients what the experiment asks for.
void compare_tests(std::span<const RoundRecord> rounds, const ResolvedSettings& settings,
                   Comparison& compare) {
  const auto is_part = [&](const char* key) { return settings.number<double>(key, 0) > 0; };
  const bool validates = is_part("evaluation.validation_fraction") || is_part("evaluation.held_out_clients");
  const bool per_client = settings.of("evaluation.per_client") == "true";
  const auto text = [](bool there) { return there ? "numbers" : "none"; };
  const std::optional<std::int64_t> validation = expected_validation_examples(settings);
  Kinds kinds(compare);
  for (const RoundRecord& round : rounds) {
    if (!round.test_loss) continue;
    const bool validated = round.validation_loss.has_value();
    const bool tested = round.per_client || round.client_errors;
    compare.result(validated == validates, fmt::format("round {} validation_loss", round.round),
                   text(validated), text(validates));
    compare.result(tested == per_client, fmt::format("round {} clients_tested", round.round), text(tested),
                   text(per_client));
    // That of held-out clients is a mean of theirs.
    if (!validation || !round.validation_accuracy || is_part("evaluation.held_out_clients")) continue;
    const double all = static_cast<double>(*validation), accuracy = *round.validation_accuracy;
    kinds.result(accuracy == std::round(accuracy * all) / all, "validation_accuracy",
                 fmt::format(" of round {}", round.round), accuracy,
                 "a part of " + counted(*validation, "example"));
  }
  kinds.conclude();
}

}  // namespace

void verify_class_accuracies(std::span<const RoundRecord> rounds, std::span<const std::int64_t> test_counts,
                             const Comparison& compare) {
  Kinds kinds(compare);
  for (const RoundRecord& round : rounds) {
    if (!round.test_accuracy || !round.classes || round.classes->accuracy.size() != test_counts.size())
      continue;  // another number of classes: told
    const std::string whose = fmt::format(" of round {}", round.round);
    double right = 0, all = 0;
    for (std::size_t label = 0; label < test_counts.size(); ++label) {
      const auto examples = static_cast<double>(test_counts[label]);
      const std::optional<double> accuracy = round.classes->accuracy[label];
      const double answers = std::round(accuracy.value_or(0) * examples);
      const std::optional<double> part = examples > 0 ? std::optional(answers / examples) : std::nullopt;
      kinds.result(accuracy == part, "class_accuracy", fmt::format("{}, class {}", whose, label),
                   accuracy ? exact_number(*accuracy) : "null",
                   "a part of " + counted(test_counts[label], "example"));
      right += answers;
      all += examples;
    }
    kinds.result(*round.test_accuracy == right / all, "test_accuracy", whose, *round.test_accuracy,
                 exact_number(right / all) + ", by the accuracies of the classes");
  }
  kinds.conclude();
}

void verify_tests(const AuditedRun& run, Verification& verification) {
  Comparison compare(verification, run.file(kSummaryFile));
  if (run.finished()) compare_end(run.summary, run.rounds(), run.settings, compare);
  Comparison compare_rounds(verification, run.file(kRoundsFile));
  compare_tests(run.rounds(), run.settings, compare_rounds);
  const auto test_counts = expected_test_counts(run.settings);
  compare_classes(run.rounds(), classes_of(run.card, run.settings), test_counts.has_value(), compare_rounds);
  if (test_counts) verify_class_accuracies(run.rounds(), *test_counts, compare_rounds);
}

}  // namespace fedarena::results
