#include "results/compare/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"

#include "results/compare/compared_rows.hpp"
#include "results/record/test_metrics.hpp"
#include "results/statistics/paired_tests.hpp"
#include "results/table/notes.hpp"

namespace fedarena::results {
namespace {

[[noreturn]] void refuse(std::string found, std::string remedy) {
  throw Error(Complaint{.found = std::move(found), .remedy = std::move(remedy)});
}

// Without a metric: accuracy, on regression data the root mean squared error.
RoundMetric default_metric(std::span<const RowRuns> rows) {
  const bool any_accuracy = std::ranges::any_of(
      rows, [](const RowRuns& row) { return row.summary().final_test_accuracy.has_value(); });
  return parse_round_metric(any_accuracy ? "accuracy" : "rmse");
}

[[noreturn]] void refuse_run(const FoundRun& run, const std::string& reason) {
  refuse(fmt::format("{} has {}", run.path.string(), reason),
         "--metric chooses another number, --labels other rows");
}

// May be nan or infinite.
double read_number(const RoundMetric& metric, const FoundRun& run) {
  const Reading reading = read_metric(metric, *run.summary, run.path);
  if (!reading.value) refuse_run(run, reading.missing);
  return *reading.value;
}

// The same of the last round, which the summary tells.
double number_in_summary(const RoundMetric& metric, const FoundRun& run) {
  if (!metric.quantity.is_share()) return root_mean_squared_error(*run.summary->final_test_loss);
  if (!run.summary->final_test_accuracy) refuse_run(run, "no accuracy, because its data are for regression");
  return *run.summary->final_test_accuracy;
}

using Family = std::vector<RowRuns>;

// The rows of these labels, and those that they are compared with.
std::vector<RowRuns> chosen(std::vector<RowRuns> rows, const PairOptions& options) {
  std::set<std::string> known;
  for (const RowRuns& row : rows) known.insert(row.key.label);
  check_labels(options.labels, known);
  if (!options.against.empty()) check_labels({options.against}, known, "--against");
  std::erase_if(rows, [&](const RowRuns& row) {
    return row.key.label != options.against && !wants(options.labels, row.key.label);
  });
  return rows;
}

// Rows that are compared with each other, by names that tell those apart.
std::vector<Family> families(const std::vector<RowRuns>& rows, bool across_grid) {
  std::vector<Family> found;
  for (const RowRuns& row : rows) {
    auto family = std::ranges::find_if(found, [&](const Family& known) {
      return across_grid || known.front().key.setting.sweep == row.key.setting.sweep;
    });
    if (family == found.end()) family = found.emplace(family);
    family->push_back(row);
  }
  for (Family& family : found) name_apart(family);
  return found;
}

// More pairs nobody reads, and each takes half a millisecond.
void check_number_of_pairs(const std::vector<Family>& families) {
  constexpr std::size_t kMostPairs = 20'000;
  std::size_t pairs = 0;
  for (const Family& family : families) pairs += family.size() * (family.size() - 1) / 2;
  if (pairs <= kMostPairs) return;
  throw Error(
      Complaint{.found = fmt::format("there are {} pairs of rows", pairs),
                .allowed = fmt::format("at most {}", kMostPairs),
                .remedy = "choose rows with --labels, compare fewer folders, or leave out --across grid"});
}

// Two rows of a family.
struct Match {
  const RowRuns* left = nullptr;
  const RowRuns* right = nullptr;
  Sweep point = {};  // of a grid, which both stand at; empty where its points are compared with each other

  // "fedavg and scaffold (training.rate=0.1)"
  std::string both() const {
    return fmt::format("{} and {}{}", left->name, right->name,
                       point.empty() ? "" : fmt::format(" ({})", sweep_text(point)));
  }
};

std::vector<Match> matches_of(const std::vector<Family>& families, bool across_grid,
                              const std::string& against) {
  std::vector<Match> matches;
  for (const Family& family : families) {
    const Sweep point = across_grid ? Sweep{} : family.front().key.setting.sweep;
    for (std::size_t i = 0; i < family.size(); ++i) {
      for (std::size_t j = i + 1; j < family.size(); ++j) {
        const RowRuns *left = &family[i], *right = &family[j];
        if (left->key.label == against) std::swap(left, right);
        if (against.empty() || right->key.label == against) matches.push_back({left, right, point});
      }
    }
  }
  return matches;
}

// Why no row of the family is in a pair; empty where all are.
std::string why_alone(const Family& family, const std::string& against) {
  const std::string point = sweep_text(family.front().key.setting.sweep);
  const std::string where = point.empty() ? "outside any grid" : "at " + point;
  if (family.size() == 1)
    return fmt::format("{} is compared with nothing, because it stands alone {}", plain_name(family.front()),
                       where);
  const auto is_other = [&](const RowRuns& row) { return row.key.label == against; };
  if (against.empty() || std::ranges::any_of(family, is_other)) return {};
  return fmt::format("{} are compared with nothing, because there is no {} {}",
                     joined(family, ", ", plain_name), against, where);
}

// What `across` allows as notes; what it does not as an Error about the first such pair.
std::vector<std::string> check_differences(const std::vector<Match>& matches,
                                           const std::set<std::string>& across) {
  std::vector<std::string> notes;
  std::set<std::string> needed;
  std::string first_refused;
  std::size_t refused = 0;
  for (const Match& match : matches) {
    std::string texts;
    for (const RowDifference& difference : row_differences(*match.left, *match.right)) {
      if (across.contains(difference.across)) {
        notes.push_back(
            fmt::format("{} are compared across {}: {}", match.both(), difference.across, difference.text));
        continue;
      }
      needed.insert(difference.across);
      texts += (texts.empty() ? "" : "; ") + difference.text;
    }
    if (texts.empty()) continue;
    if (refused++ == 0) first_refused = fmt::format("{} differ in {}", match.both(), texts);
  }
  if (refused == 0) return notes;
  if (refused > 1)
    first_refused +=
        refused == 2 ? " (and 1 more pair differs)" : fmt::format(" (and {} more pairs differ)", refused - 1);
  needed.insert(across.begin(), across.end());
  refuse(std::move(first_refused),
         fmt::format("--across {} compares them anyway, and says so; --labels A,B compares fewer rows",
                     fmt::join(needed, ",")));
}

std::string too_few(std::size_t seeds) {
  if (seeds == 0) return "no seed in common";
  return seeds == 1 ? "one seed" : "two seeds";
}

// The first run that came to no finite loss or result: a model that answers nothing still has an accuracy,
// and clients' own models may be lost where the server's is not.
std::string divergence(const Match& match, const Pair& pair, const RoundMetric& metric) {
  const auto lost = [&](const RowRuns& row, std::int64_t seed, double result) {
    if (diverged(*row.of_seed(seed)->summary)) return fmt::format("{} diverged (seed {})", row.name, seed);
    if (std::isfinite(result)) return std::string();
    return fmt::format("{} of {} is {} (seed {})", metric.text, row.name,
                       std::isnan(result) ? "not a number" : "infinite", seed);
  };
  for (const SeedPair& seed : pair.seeds) {
    std::string reason = lost(*match.left, seed.seed, seed.first);
    if (reason.empty()) reason = lost(*match.right, seed.seed, seed.second);
    if (!reason.empty()) return reason;
  }
  return {};
}

// The first run that spent less because something ended it.
std::string early_end(const Match& match, const Pair& pair, const RoundMetric& metric) {
  if (!is_spent_until_the_end(metric)) return {};
  for (const SeedPair& seed : pair.seeds) {
    for (const RowRuns* row : {match.left, match.right}) {
      if (ended_early(*row->of_seed(seed.seed)->summary))
        return fmt::format("{} ended early (seed {})", row->name, seed.seed);
    }
  }
  return {};
}

// `number_of`: what each run is compared by.
Pair make_pair(const Match& match, const RoundMetric& metric,
               const std::function<double(const FoundRun*)>& number_of) {
  Pair pair{.point = match.point, .first = match.left->name, .second = match.right->name};
  std::vector<double> left, right;
  for (const FoundRun* run : match.left->runs) {
    const std::int64_t seed = run->summary->seed;
    const FoundRun* other = match.right->of_seed(seed);
    if (other == nullptr) {
      pair.unpaired.push_back(seed);
      continue;
    }
    left.push_back(number_of(run));
    right.push_back(number_of(other));
    pair.seeds.push_back({seed, left.back(), right.back()});
  }
  for (const FoundRun* run : match.right->runs) {
    if (match.left->of_seed(run->summary->seed) == nullptr) pair.unpaired.push_back(run->summary->seed);
  }
  std::ranges::sort(pair.unpaired);
  pair.no_statement = divergence(match, pair, metric);
  if (pair.no_statement.empty()) pair.no_statement = early_end(match, pair, metric);
  if (!pair.no_statement.empty()) return pair;
  if (pair.seeds.size() < kLeastSeeds) pair.no_statement = too_few(pair.seeds.size());
  pair.differences = paired_differences(left, right);
  if (pair.differences.empty()) return pair;
  pair.mean = mean(pair.differences);
  pair.deviation = sample_standard_deviation(pair.differences);
  pair.bootstrap = bootstrap_interval(pair.differences, 1 - kErrorRate);
  return pair;
}

void judge(std::vector<Pair>& pairs) {
  std::vector<std::vector<double>> differences;
  for (const Pair& pair : pairs) differences.push_back(pair.differences);
  const std::vector<PairJudgement> judgements = judge_pairs(differences);
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].judgement = judgements[i];
}

}  // namespace

Pairs compare_rows(std::span<const FoundRun> runs, const PairOptions& options) {
  const Rows gathered = gather_compared_rows(runs);
  std::vector<RowRuns> rows = chosen(gathered.rows, options);
  name_apart(rows);
  const bool across_grid = options.across.contains(kAcrossGrid);
  const std::vector<Family> all = families(rows, across_grid);
  if (options.against.empty()) check_number_of_pairs(all);
  const std::vector<Match> matches = matches_of(all, across_grid, options.against);
  if (matches.empty()) {
    refuse(rows.empty() ? "there is nothing to compare: no run is finished"
                        : fmt::format("there is nothing to compare \"{}\" with", plain_name(rows.front())),
           all.size() > 1 ? "--across grid compares the points of a grid with each other"
                          : "name folders with finished runs of two algorithms, or of two settings");
  }
  std::vector<std::string> alone;
  for (const Family& family : all) {
    const std::string why = why_alone(family, options.against);
    if (why.empty()) continue;
    alone.push_back(why);
    std::erase_if(
        rows, [&](const RowRuns& row) { return row.key.setting.sweep == family.front().key.setting.sweep; });
  }
  Pairs table{.metric = options.metric ? *options.metric : default_metric(rows)};
  table.notes = check_differences(matches, options.across);
  std::map<const FoundRun*, double> numbers;  // read once, however many pairs a run is in
  const auto number_of = [&](const FoundRun* run) {
    const auto known = numbers.find(run);
    if (known != numbers.end()) return known->second;
    return numbers[run] =
               options.metric ? read_number(*options.metric, *run) : number_in_summary(table.metric, *run);
  };
  for (const Match& match : matches) table.pairs.push_back(make_pair(match, table.metric, number_of));
  judge(table.pairs);
  table.caption = pairs_caption(rows);
  if (!options.against.empty())
    table.notes.push_back(
        fmt::format("each row is compared with {} alone, and corrected for these pairs", options.against));
  append_notes(table.notes, pair_notes(table, rows));
  append_notes(table.notes, alone);
  append_notes(table.notes, not_counted(gathered, [](const FoundRun& run) { return run.path.string(); }));
  return table;
}

std::string verdict_text(const Pair& pair, const RoundMetric& metric) {
  const bool more = metric.quantity.better == Better::kMore;
  switch (pair.judgement.finding) {
    case Finding::kNoDifference:
      return "no difference shown";
    case Finding::kAboveZero:
      return (more ? pair.first : pair.second) + " is better";
    case Finding::kBelowZero:
      return (more ? pair.second : pair.first) + " is better";
    case Finding::kNoStatement:
      break;
  }
  return pair.no_statement + ": no statement";
}

std::vector<std::string> pair_keys(const Pairs& pairs) {
  std::vector<Sweep> points;
  for (const Pair& pair : pairs.pairs) points.push_back(pair.point);
  return differing_keys(points);
}

}  // namespace fedarena::results
