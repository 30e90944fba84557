#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/measures/round_metric.hpp"
#include "results/record/find_runs.hpp"
#include "results/statistics/separation.hpp"
#include "results/statistics/statistics.hpp"
#include "results/table/published.hpp"
#include "results/table/rows.hpp"

namespace fedarena::results {

/// One finished run of a row.
struct SeedResult {
  std::filesystem::path path;
  Summary summary;
  std::optional<double> metric = {};               ///< the metric of the table; none without one
  std::int64_t metric_round = 0;                   ///< where it was read; 0 without a value
  std::map<std::string, Separation> attacks = {};  ///< on the membership of its examples, by score
  std::string attacks_problem = {};                ///< why they cannot be read; else empty
  std::string attacked = {};                       ///< which examples they were on; empty without any

  std::int64_t seed() const { return summary.seed; }
  /// Fewer than planned where a rule or the budget stopped the run.
  std::int64_t rounds_done() const { return summary.rounds_done; }
};

/// The number by which rows are compared, over seeds.
struct Result {
  Spread spread;
  bool share = true;  ///< a fraction, shown in percent
  Better better = Better::kMore;
  bool bound = false;  ///< an upper bound, which is rounded up
};

/// Its mean as it is printed, in percent where it is a share.
std::string mean_text(const Result& result);

/// One algorithm entry at one point of a grid over its seeds.
struct Row : RowKey {
  std::vector<SeedResult> seeds;                       ///< at least one, ascending
  std::map<std::string, std::string> conditions = {};  ///< `row_conditions`, of the first seed
  Result last = {};  ///< of the last round: the accuracy, or RMSE on regression data
  std::map<const CatalogueEntry*, Spread> clients_tested =
      {};                                       ///< by `client_columns`: what every seed tested
  std::optional<PrivacyClaim> privacy;          ///< the worst over seeds; none under the policy "none"
  std::optional<Spread> epsilon_at_least = {};  ///< lower bounds of the seeds' audits; none without canaries
  bool control = false;                         ///< of an audit: without noise
  /// Per client and round, mean over the seeds in which anybody took part; none where nobody did.
  std::optional<double> uplink_bytes = {}, downlink_bytes = {};
  /// Per run, mean over seeds; none where they would tell how many clients privacy has drawn in secret.
  std::optional<double> total_uplink_bytes = {}, total_downlink_bytes = {};
  /// The same of `Summary::seconds`, `Summary::examples` and `Cost`; none where the sizes of batches or
  /// cohorts are secret.
  std::optional<double> seconds = {}, examples = {}, gradients = {}, operations = {};
  bool operations_at_least = false;  ///< whether any seed's operations are a lower bound
  /// `last`, or the table's metric; none where a seed lacks the latter.
  std::optional<Result> result;
  std::optional<Published> published = {};  ///< what others published of it; `add_published` sets it
  std::optional<Tuning> tuning = {};  ///< how the settings were chosen; none unless every seed has the same
  bool best = false;  ///< the best result of its setting, as printed, where rows may be compared

  /// Of the first seed, for what all seeds share.
  const Summary& summary() const { return seeds.front().summary; }
  /// After the last round; none on regression data.
  std::optional<Spread> accuracy() const { return last.share ? std::optional(last.spread) : std::nullopt; }
  /// The root mean squared error after the last round; on regression data alone.
  std::optional<Spread> rmse() const { return last.share ? std::nullopt : std::optional(last.spread); }
  /// The seeds whose audits contradict their claims.
  std::vector<std::int64_t> audits_contradicting() const;
  /// Of the attacks with that score; none unless every seed was attacked by it.
  std::optional<Spread> attacked(const std::string& score, const AttackMeasure& what) const;
  /// What clients say in one of the respects of `client_columns`; none where a seed lacks it.
  std::optional<Spread> clients(const CatalogueEntry* column) const;
};

/// The table of a paper: rows in natural order of setting and label, and what a reader must know besides.
struct Table {
  std::optional<RoundMetric>
      metric;  ///< what rows are compared by; none: accuracy, or RMSE, of the last round
  PlusMinus plus_minus = PlusMinus::kDeviation;     ///< what readers see behind "±"
  std::vector<std::string> published_sources = {};  ///< by `Published::source`
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< one line each: data notes, what limits a claim of privacy, unequal
                                   ///< seeds, runs that are not counted and why
};

/// Makes the table of the finished runs, a line for each of their rows. Unfinished and broken runs are noted,
/// not counted. What `check_row` refuses is an Error. The order of `runs` does not matter. A metric is read
/// from the rounds of every run. With half-widths, a note names the rows of one seed, which have no interval.
Table make_table(std::span<const FoundRun> runs, const std::optional<RoundMetric>& metric = {},
                 PlusMinus plus_minus = PlusMinus::kDeviation);

/// Whether the rows differ in this part of their settings by more than what columns of a sweep tell, so that
/// it needs a column.
bool varies(const Table& table, const SettingPart& part);

/// What the grids of all rows vary, in natural order: the paths or keys in which rows differ. Each needs a
/// column.
std::vector<std::string> swept_keys(const Table& table);

/// What its rows are called beside each other: with the parts of the setting and the swept keys in which they
/// differ.
SettingNames setting_names(const Table& table);

/// The parts of the setting that all rows share, as "Experiment quickstart, data set digits", and of those
/// that a sweep tells apart what is common; empty without any.
std::string caption(const Table& table);

/// Whether any row has an accuracy, and whether any has a root mean squared error instead.
bool any_accuracy(const Table& table);
bool any_regression(const Table& table);

/// Whether any row has that: `any_has(table, &Row::privacy)`.
template <typename Value>
bool any_has(const Table& table, std::optional<Value> Row::*value) {
  return std::ranges::any_of(table.rows, [&](const Row& row) { return (row.*value).has_value(); });
}

/// What rows say of their clients, over seeds: accuracies after the last round and of the best rounds, and on
/// regression data errors after the last round.
std::span<const CatalogueEntry* const> client_columns();

/// The scores by which any run of the table was attacked, ascending.
std::vector<std::string> attack_scores(const Table& table);

/// Whether any row makes a claim per unit of distance.
bool claims_per_distance(const Table& table);

/// A part of a claim without which its epsilon says nothing: delta, unit and adjacency.
struct ClaimTerm {
  const char* heading;
  std::string (*text)(const PrivacyClaim& claim);
};
std::span<const ClaimTerm> claim_terms();
/// What all rows that claim something have of it; none where they differ.
std::optional<std::string> shared_term(const Table& table, const ClaimTerm& term);
/// These together, " (delta 1e-5, unit record)"; empty without any.
std::string shared_terms(const Table& table);

/// What papers call the privacy of any row, ascending, and what it is of a row; none where it has no such.
std::vector<std::string> nominal_names(const Table& table);
std::optional<double> nominal_of(const Row& row, const std::string& what);

/// Whether a rule or a budget ended any run of the row before its planned rounds.
bool is_stopped_early(const Row& row);

/// The rounds that the runs of a row did: "20", or "14-15" where they were stopped at different ones.
std::string rounds_done(const Row& row);

}  // namespace fedarena::results
