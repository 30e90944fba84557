#include "results/compare/pair_notes.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/statistics/bootstrap.hpp"
#include "results/table/dataset_notes.hpp"
#include "results/table/divergence_notes.hpp"
#include "results/text/number_format.hpp"
#include "results/table/partition_notes.hpp"
#include "results/table/privacy_notes.hpp"
#include "results/compare/row_differences.hpp"
#include "results/table/stopping_notes.hpp"
#include "results/table/table.hpp"
#include "results/text/text.hpp"
#include "results/table/tuning_notes.hpp"

namespace fedarena::results {
namespace {

using Rows = std::vector<const ComparedRow*>;

std::vector<FoundRun> runs_of(const Rows& rows) {
  std::vector<FoundRun> runs;
  for (const ComparedRow* row : rows) {
    for (const auto& [seed, run] : row->runs) runs.push_back(run);
  }
  return runs;
}

// The worst claim of a row's seeds.
std::optional<PrivacyClaim> claim_of(const ComparedRow& row) {
  std::optional<PrivacyClaim> claim = row.summary().privacy;
  for (const auto& [seed, run] : row.runs) {
    if (claim) claim = joint(*claim, *run.summary->privacy);
  }
  return claim;
}

// The rows as a table, so far as captions and notes of tables look at it.
Table as_table(const Rows& rows) {
  Table table;
  for (const ComparedRow* row : rows) {
    const Summary& summary = row->summary();
    Row& line = table.rows.emplace_back();
    line.setting = {.experiment = summary.experiment,
                    .dataset = summary.dataset,
                    .partition = summary.partition,
                    .model = summary.model,
                    .sweep = row->key.shared};
    line.label = row->plain_name();
    line.rounds = summary.rounds;
    line.policy = summary.policy;
    line.privacy = claim_of(*row);
    for (const auto& [seed, run] : row->runs) {
      SeedResult& result = line.seeds.emplace_back();
      result.seed = seed;
      result.rounds_done = run.summary->rounds_done;
    }
  }
  return table;
}

// Of rows whose claims say the same; empty otherwise.
std::string shared_privacy(const Rows& rows) {
  std::optional<PrivacyClaim> worst = claim_of(*rows.front());
  for (const ComparedRow* row : rows) {
    const std::optional<PrivacyClaim> claim = claim_of(*row);
    if (claim.has_value() != worst.has_value()) return {};
    if (!claim) continue;
    const std::vector<RowDifference> differences = row_differences(*rows.front(), *row);
    const bool differ = std::any_of(differences.begin(), differences.end(), [](const RowDifference& found) {
      return found.across == kAcrossEpsilon;
    });
    if (differ || claim->unit != worst->unit || claim->adjacency != worst->adjacency ||
        claim->settings != worst->settings)
      return {};
    worst = joint(*worst, *claim);
  }
  if (!worst) return "no privacy";
  return fmt::format("epsilon {} at delta {}, unit {}{}", epsilons_text(worst),
                     short_number(worst->settings.delta), worst->unit,
                     worst->adjacency.empty() ? "" : ", adjacency " + worst->adjacency);
}

std::string seeds_text(const std::vector<std::int64_t>& seeds) {
  return fmt::format("{} {}", seeds.size() == 1 ? "seed" : "seeds", fmt::join(seeds, ", "));
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
                        : fmt::format("{}: the same difference with every seed, so there is no t; the signed "
                                      "ranks decide",
                                      both));
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

// Names the row of a run, so that no two rows have one name.
std::function<std::string(const FoundRun&)> row_namer(const Rows& rows) {
  std::map<std::filesystem::path, std::string> names;
  const std::vector<std::string> distinct = distinct_names(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [seed, run] : rows[i]->runs) names[run.path] = distinct[i];
  }
  return [names = std::move(names)](const FoundRun& run) { return names.at(run.path); };
}

}  // namespace

std::string pairs_caption(const Rows& rows) {
  std::string text = caption(as_table(rows));
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
  };
  const std::int64_t rounds = rows.front()->summary().rounds;
  if (std::all_of(rows.begin(), rows.end(),
                  [&](const ComparedRow* row) { return row->summary().rounds == rounds; }))
    add(fmt::format("{} {}", rounds, rounds == 1 ? "round" : "rounds"));
  add(shared_privacy(rows));
  return one_line(text);
}

std::vector<std::string> pair_notes(const Pairs& pairs, const Rows& rows) {
  const std::vector<FoundRun> runs = runs_of(rows);
  std::vector<std::string> notes;
  append_notes(notes, notes_of_pairs(pairs));
  append_notes(notes, few_seeds(pairs));
  append_notes(notes, divergence_notes(runs, row_namer(rows)));
  append_notes(notes, dataset_notes(runs));
  append_notes(notes, partition_notes(runs));
  append_notes(notes, stopping_notes(runs));
  append_notes(notes, tuning_notes(runs, row_namer(rows)));
  append_notes(notes, privacy_notes(as_table(rows), [](const Row& row) { return row.label; }));
  return notes;
}

}  // namespace fedarena::results
