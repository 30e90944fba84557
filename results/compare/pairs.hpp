#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/compare/compared_rows.hpp"
#include "results/measures/round_metric.hpp"
#include "results/record/sweep.hpp"
#include "results/statistics/paired_tests.hpp"
#include "results/statistics/statistics.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {

/// What a user asks of a comparison.
struct PairOptions {
  /// What pairs are compared by; none: the accuracy of the last round, on regression data the root mean
  /// squared error.
  std::optional<RoundMetric> metric = {};
  Labels labels = {};
  std::string against = {};           ///< the label of which one row of each pair must be; empty: of any
  std::set<std::string> across = {};  ///< of across_names(): in what rows may differ
};

/// The results of both rows with one seed.
struct SeedPair {
  std::int64_t seed = 0;
  double first = 0;
  double second = 0;
};

/// Two rows and what their seeds in common show.
struct Pair {
  Sweep point = {};  ///< of a grid: what it gives to both
  std::string first = {};
  std::string second = {};
  std::vector<SeedPair> seeds = {};         ///< ascending; those that both have
  std::vector<std::int64_t> unpaired = {};  ///< ascending; those that one of them has
  std::vector<double> differences = {};     ///< first - second, by seed; none where a result is not finite
  std::optional<double> mean = {};          ///< of the differences
  std::optional<double> deviation = {};     ///< sample standard deviation of the differences
  std::optional<Interval> bootstrap = {};
  PairJudgement judgement = {};
  std::string no_statement = {};  ///< why nothing is said: "one seed"; empty where something is
};

/// A table of pairs.
struct Pairs {
  RoundMetric metric;
  std::string caption = {};  ///< what all rows share; may be empty
  std::vector<Pair> pairs = {};
  std::vector<std::string> notes = {};  ///< one line each, without a full stop
};

/// Compares every two rows of each point of a grid, or every two at all across "grid", by the seeds that both
/// have, or each with those of one label, which then stand second; all pairs are judged together. An Error
/// where two rows differ in data, partition, epsilon, model, rounds or number of trials and `across` does not
/// name that, where a run lacks the metric, where there are not two rows, and for a label that no row has.
/// What `across` let pass is noted.
Pairs compare_rows(std::span<const FoundRun> runs, const PairOptions& options);

/// "fedavg is better", "no difference shown", "one seed: no statement".
std::string verdict_text(const Pair& pair, const RoundMetric& metric);

/// The keys of a grid in which pairs differ, in natural order: each needs a column.
std::vector<std::string> pair_keys(const Pairs& pairs);

/// What all compared rows share: experiment, data set, partition, model, rounds and privacy, as far as they
/// do.
std::string pairs_caption(std::span<const RowRuns> rows);

/// What a reader must know besides the pairs, by the names of the rows: about the data and its partition,
/// about privacy, which seeds were not paired, and what so few seeds cannot show.
std::vector<std::string> pair_notes(const Pairs& pairs, std::span<const RowRuns> rows);

}  // namespace fedarena::results
