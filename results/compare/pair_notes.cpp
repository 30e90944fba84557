#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/compare/compared_rows.hpp"
#include "results/compare/pairs.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/run_directory.hpp"
#include "results/statistics/paired_tests.hpp"
#include "results/table/notes.hpp"
#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Of rows whose claims say the same; empty otherwise.
std::string shared_privacy(std::span<const RowRuns> rows) {
  std::optional<PrivacyClaim> worst = rows.front().privacy();
  for (const RowRuns& row : rows) {
    const std::optional<PrivacyClaim> claim = row.privacy();
    if (claim.has_value() != worst.has_value()) return {};
    if (!claim) continue;
    const std::vector<RowDifference> differences = row_differences(rows.front(), row);
    const bool differ = std::ranges::any_of(
        differences, [](const RowDifference& found) { return found.across == kAcrossEpsilon; });
    if (differ || claim->unit != worst->unit || claim->adjacency != worst->adjacency ||
        claim->settings != worst->settings)
      return {};
    worst = joint(*worst, *claim);
  }
  if (!worst) return "no privacy";
  return fmt::format("epsilon {} at delta {}, unit {}{}", claims_text(worst),
                     short_number(worst->settings.delta), worst->unit,
                     worst->adjacency.empty() ? "" : ", adjacency " + worst->adjacency);
}

std::vector<std::string> notes_of_pairs(const Pairs& pairs) {
  std::vector<std::string> notes;
  for (const Pair& pair : pairs.pairs) {
    const std::string point = pair.point.empty() ? "" : fmt::format(" ({})", sweep_text(pair.point));
    const std::string both = fmt::format("{} and {}{}", pair.first, pair.second, point);
    if (!pair.unpaired.empty())
      notes.push_back(fmt::format("{}: not compared, because only one of them has it: {}", both,
                                  seeds_text(pair.unpaired)));
    if (pair.differences.size() < 2 || pair.judgement.t) continue;
    notes.push_back(pair.differences.front() == 0
                        ? fmt::format("{}: equal with every seed", both)
                        : fmt::format("{}: the same difference with every seed, so there is no t{}", both,
                                      pair.differences.size() > 2 ? "; the signed ranks decide" : ""));
  }
  return notes;
}

// Of rows of one name, such as those of several folders, which nothing else tells apart.
std::vector<std::string> setting_notes(std::span<const RowRuns> rows) {
  std::map<std::pair<std::string, Sweep>, std::vector<const Summary*>> namesakes;
  for (const RowRuns& row : rows) namesakes[{row.key.label, row.key.whole_sweep()}].push_back(&row.summary());
  std::vector<std::string> notes;
  for (const auto& [name, summaries] : namesakes) {
    std::map<std::string, std::vector<std::string>> values;
    for (const Summary* summary : summaries) {
      const auto add = [&](const std::string& key, const std::string& value) {
        if (std::vector<std::string>& known = values[key]; !contains(known, unquoted(value)))
          known.push_back(unquoted(value));
      };
      for (const auto& [key, value] : summary->algorithm_parameters) add(key, value);
      for (const auto& [key, value] : summary->policy_settings) add("privacy." + key, value);
    }
    for (const auto& [key, found] : values) {
      if (found.size() < 2) continue;
      notes.push_back(
          one_line(fmt::format("rows of {} differ in {}: {}", name.first, key, fmt::join(found, ", "))));
    }
  }
  return notes;
}

// What no method can get out of so few seeds.
std::vector<std::string> few_seeds(const Pairs& pairs) {
  std::set<std::size_t> counts;
  for (const Pair& pair : pairs.pairs) counts.insert(pair.differences.size());
  std::vector<std::string> notes;
  for (const std::size_t count : counts) {
    const double reach = bootstrap_reach(count);
    if (count < 2 || reach >= 1 - kErrorRate) continue;
    notes.push_back(fmt::format(
        "with {} seeds Wilcoxon's p is at least {}, and no bootstrap interval holds the centre of "
        "symmetric differences in more than {} % of cases; hence neither decides",
        count, exact_number(1 - reach), exact_number(100 * reach)));
  }
  return notes;
}

// Whether the last evaluation found a larger loss than the first one and, where there is an accuracy, no
// better one: a model that rounds made worse, though its loss may be a number.
bool got_worse(const FoundRun& run) {
  std::vector<RoundRecord> rounds;
  try {
    rounds = recorded_rounds(run.path, *run.summary);
  } catch (const Error&) {  // what reads the metric of a round tells of it
    return false;
  }
  const auto first =
      std::ranges::find_if(rounds, [](const RoundRecord& round) { return round.test_loss.has_value(); });
  const std::optional<double> loss = run.summary->final_test_loss;
  if (first == rounds.end() || !loss || diverged(*run.summary) || !(*loss > *first->test_loss)) return false;
  return !first->test_accuracy || run.summary->final_test_accuracy <= first->test_accuracy;
}

std::vector<std::string> decline(std::span<const RowRuns> rows) {
  std::vector<std::string> texts;
  for (const RowRuns& row : rows) {
    const auto seeds = row.seeds_where(got_worse);
    if (!seeds.empty()) texts.push_back(fmt::format("{}, {}", row.name, seeds_text(seeds)));
  }
  if (texts.empty()) return {};
  return {
      fmt::format("ended with a larger loss than at the first evaluation, and with no better accuracy: {}",
                  fmt::join(texts, "; "))};
}

std::vector<std::string> attack_notes(std::span<const RowRuns> rows) {
  std::map<std::string, std::vector<std::string>> runs;
  for (const RowRuns& row : rows) {
    for (const FoundRun* run : row.runs) {
      if (const auto attacks = read_attacks(run->path))
        runs[attacked_text(*attacks)].push_back(run->path.string());
    }
  }
  return unlike_attacks_notes(runs);
}

}  // namespace

std::string pairs_caption(std::span<const RowRuns> rows) {
  Table table;  // so far as its caption looks at it
  for (const RowRuns& row : rows) table.rows.emplace_back().setting = row.key.setting;
  std::string text = caption(table);
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
  };
  const std::int64_t rounds = rows.front().summary().rounds;
  if (std::ranges::all_of(rows, [&](const RowRuns& row) { return row.summary().rounds == rounds; }))
    add(counted(rounds, "round"));
  add(shared_privacy(rows));
  return one_line(text);
}

std::vector<std::string> pair_notes(const Pairs& pairs, std::span<const RowRuns> rows) {
  std::vector<std::string> notes;
  append_notes(notes, setting_notes(rows));
  append_notes(notes, notes_of_pairs(pairs));
  append_notes(notes, few_seeds(pairs));
  append_notes(notes, decline(rows));
  if (pairs.metric.quantity.is_of_attacks()) append_notes(notes, attack_notes(rows));
  append_notes(notes, row_notes(rows));
  append_notes(notes, privacy_notes(rows));
  return notes;
}

}  // namespace fedarena::results
