#include "results/compare/pair_columns.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "results/statistics/bootstrap.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

using CellText = std::function<std::string(const Pair&)>;

// To so many digits as the larger of the two means has.
double printed_beside(const Pair& pair) {
  double first = 0, second = 0;
  for (const SeedPair& seed : pair.seeds) {
    first += seed.first;
    second += seed.second;
  }
  return std::max(first, second) / static_cast<double>(pair.seeds.size());
}

std::string difference_cell(const PairMetric& metric, const Pair& pair) {
  if (!pair.mean) return kNothing;
  const double beside = printed_beside(pair);
  std::string text = metric.difference(*pair.mean, beside);
  if (pair.deviation) text += " ± " + metric.spread(*pair.deviation, beside);
  return text;
}

std::string interval_cell(const PairMetric& metric, const Pair& pair,
                          const std::optional<Interval>& interval) {
  if (!interval) return kNothing;
  const double beside = printed_beside(pair);
  return fmt::format("[{}, {}]", metric.difference(interval->low, beside),
                     metric.difference(interval->high, beside));
}

std::string p_text(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p); }

std::string p_cell(const std::optional<double>& p) { return p ? p_text(*p) : kNothing; }

std::string ranks_cell(const Pair& pair) {
  if (!pair.judgement.ranks) return kNothing;
  const SignedRank& ranks = *pair.judgement.ranks;
  const bool least = ranks.used > 0 && ranks.p <= ranks.least && ranks.least > kErrorRate;
  return p_text(ranks.p) + (least ? " (least)" : "");
}

std::string point_cell(const Pair& pair, const std::string& key) {
  for (const auto& [path, value] : pair.point) {
    if (path == key) return value;
  }
  return kNothing;
}

}  // namespace

std::vector<PairColumn> pair_columns(const Pairs& pairs) {
  const PairMetric& metric = pairs.metric;
  std::vector<PairColumn> columns;
  const auto add = [&](std::string heading, bool right, bool formula, const CellText& text) {
    PairColumn& column = columns.emplace_back(PairColumn{std::move(heading), right, formula, {}});
    for (const Pair& pair : pairs.pairs) column.cells.push_back(text(pair));
  };
  for (const std::string& key : pair_keys(pairs))
    add(key, false, false, [&](const Pair& pair) { return point_cell(pair, key); });
  add("A", false, false, [](const Pair& pair) { return pair.first; });
  add("B", false, false, [](const Pair& pair) { return pair.second; });
  add("seeds", true, false, [](const Pair& pair) { return std::to_string(pair.seeds.size()); });
  add(metric.is_fraction() ? "A - B (points)" : "A - B", true, true,
      [&](const Pair& pair) { return difference_cell(metric, pair); });
  const std::string level = fmt::format("{:g} %", 100 * (1 - kErrorRate));
  add(level + " interval (t)", true, true, [&](const Pair& pair) {
    return interval_cell(metric, pair,
                         pair.judgement.t ? std::optional(pair.judgement.t->interval) : std::nullopt);
  });
  add("bootstrap", true, true, [&](const Pair& pair) { return interval_cell(metric, pair, pair.bootstrap); });
  add("p (t)", true, false, [](const Pair& pair) {
    return p_cell(pair.judgement.t ? std::optional(pair.judgement.t->p) : std::nullopt);
  });
  add("p (Wilcoxon)", true, false, ranks_cell);
  add("p (Holm)", true, false, [](const Pair& pair) { return p_cell(pair.judgement.holm); });
  add("verdict", false, false, [&](const Pair& pair) { return verdict_text(pair, metric); });
  return columns;
}

std::string pairs_legend(const Pairs& pairs) {
  const PairMetric& metric = pairs.metric;
  const double level = 100 * (1 - kErrorRate);
  return fmt::format(
      "{}: {} is better. A - B: the difference{}, paired by seed: mean ± sample standard deviation. "
      "Intervals: "
      "{:g} %, of each pair by itself, by Student's t and by {},{:03} bootstrap resamples (expanded "
      "percentiles). "
      "p: "
      "two-sided; of the paired t test, of Wilcoxon's signed ranks, and of t adjusted by Holm over the {} of "
      "this table. Verdict: a difference is shown where p (Holm) is at most {:g} with at least {} seeds; "
      "nothing "
      "else decides. \"No difference shown\" does not mean that there is none.",
      metric.meaning(), metric.higher_is_better() ? "more" : "less",
      metric.is_fraction() ? " in percentage points" : "", level, kResamples / 1000, kResamples % 1000,
      pairs.pairs.size() == 1 ? "one pair" : fmt::format("{} pairs", pairs.pairs.size()), kErrorRate,
      kLeastSeeds);
}

}  // namespace fedarena::results
