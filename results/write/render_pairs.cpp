// Tables of pairs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/record/json_fields.hpp"
#include "results/statistics/paired_tests.hpp"
#include "results/statistics/statistics.hpp"
#include "results/text/text.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
namespace {

// The mean of one side; none without seeds.
std::optional<double> side_mean(const Pair& pair, double SeedPair::*side) {
  if (pair.seeds.empty()) return std::nullopt;
  std::vector<double> values;
  for (const SeedPair& seed : pair.seeds) values.push_back(seed.*side);
  return mean(values);
}

// A part of what may not be there.
template <typename Whole, typename Part>
std::optional<Part> part_of(const std::optional<Whole>& whole, Part Whole::*part) {
  return whole ? std::optional((*whole).*part) : std::nullopt;
}

// What a difference is printed beside, so that it has as many digits: the larger of the two means, or less
// where that would leave nothing of the deviation.
double printed_beside(const Pair& pair) {
  constexpr double kTwoDigits = 100;
  const double mean = std::max(*side_mean(pair, &SeedPair::first), *side_mean(pair, &SeedPair::second));
  const double deviation = pair.deviation.value_or(0);
  return deviation > 0 ? std::min(mean, kTwoDigits * deviation) : mean;
}

// The size of differences between results that are about `beside`: "1.31", "0.0123". Of fractions, in
// percentage points.
std::string size_text(const RoundMetric& metric, double size, double beside) {
  return metric.quantity.is_share() ? percent(size) : measured_beside(beside, size);
}

// The same with a sign: "+1.31", "-0.40", "0.00".
std::string difference_text(const RoundMetric& metric, double value, double beside) {
  std::string size = size_text(metric, std::abs(value), beside);
  if (size.find_first_of("123456789i") == std::string::npos) return size;  // nothing is left to have a sign
  return (value < 0 ? "-" : "+") + size;
}

Cell difference_cell(const RoundMetric& metric, const Pair& pair) {
  if (!pair.mean) return kNothing;
  const double beside = printed_beside(pair);
  return number_cell(difference_text(metric, *pair.mean, beside),
                     pair.deviation ? size_text(metric, *pair.deviation, beside) : "");
}

Cell interval_cell(const RoundMetric& metric, const Pair& pair, const std::optional<Interval>& interval) {
  if (!interval) return kNothing;
  const double beside = printed_beside(pair);
  return number_cell(fmt::format("[{}, {}]", difference_text(metric, interval->low, beside),
                                 difference_text(metric, interval->high, beside)));
}

Cell p_cell(std::optional<double> p, const char* behind = "") {
  if (!p) return kNothing;
  // Never at the error rate what lies above it.
  const double shown = *p > kErrorRate ? std::max(*p, kErrorRate + 0.0001) : *p;
  return (*p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", shown)) + behind;
}

Cell ranks_cell(const Pair& pair) {
  if (!pair.judgement.ranks) return kNothing;
  const SignedRank& ranks = *pair.judgement.ranks;
  const bool least = ranks.used > 0 && ranks.p <= ranks.least && ranks.least > kErrorRate;
  return p_cell(ranks.p, least ? " (least)" : "");
}

// The columns that these pairs need.
std::vector<Column<Pair>> columns_of(const Pairs& pairs) {
  const RoundMetric& metric = pairs.metric;
  std::vector<Column<Pair>> columns;
  const auto add = [&](const std::string& heading, Align align, std::function<Cell(const Pair&)> cell) {
    columns.push_back({heading, align, std::move(cell)});
  };
  for (const std::string& key : pair_keys(pairs)) {
    add(key, Align::kText,
        [key](const Pair& pair) { return swept_value(pair.point, key).value_or(kNothing); });
  }
  add("A", Align::kText, [](const Pair& pair) { return pair.first; });
  add("B", Align::kText, [](const Pair& pair) { return pair.second; });
  add("seeds", Align::kNumber, [](const Pair& pair) { return std::to_string(pair.seeds.size()); });
  add(metric.quantity.is_share() ? "A - B (points)" : "A - B", Align::kFormula,
      [&](const Pair& pair) { return difference_cell(metric, pair); });
  add(fmt::format("{:g} % interval (t)", 100 * (1 - kErrorRate)), Align::kFormula, [&](const Pair& pair) {
    return interval_cell(metric, pair, part_of(pair.judgement.t, &PairedT::interval));
  });
  add("bootstrap", Align::kFormula,
      [&](const Pair& pair) { return interval_cell(metric, pair, pair.bootstrap); });
  add("p (t)", Align::kNumber,
      [](const Pair& pair) { return p_cell(part_of(pair.judgement.t, &PairedT::p)); });
  add("p (Wilcoxon)", Align::kNumber, ranks_cell);
  add("p (Holm)", Align::kNumber, [](const Pair& pair) { return p_cell(pair.judgement.holm); });
  add("verdict", Align::kText, [&](const Pair& pair) { return verdict_text(pair, metric); });
  return columns;
}

bool is_more_better(const Pairs& pairs) { return pairs.metric.quantity.better == Better::kMore; }

// What the columns mean, and the rule by which verdicts are given.
std::string pairs_legend(const Pairs& pairs) {
  const RoundMetric& metric = pairs.metric;
  return fmt::format(
      "{}: {} is better. A - B: the difference{}, paired by seed: mean ± sample standard deviation. "
      "Intervals: {:g} %, of each pair by itself, by Student's t and by {},{:03} bootstrap resamples "
      "(expanded percentiles). p: two-sided; of the paired t test, of Wilcoxon's signed ranks, and of t "
      "adjusted by Holm over the {} of this table. Verdict: a difference is shown where p (Holm) is at most "
      "{:g} with at least {} seeds; nothing else decides. \"No difference shown\" does not mean that there "
      "is none.",
      describe(metric), is_more_better(pairs) ? "more" : "less",
      metric.quantity.is_share() ? " in percentage points" : "", 100 * (1 - kErrorRate), kResamples / 1000,
      kResamples % 1000, pairs.pairs.size() == 1 ? "one pair" : fmt::format("{} pairs", pairs.pairs.size()),
      kErrorRate, kLeastSeeds);
}

// One number of a pair, or none.
struct RawNumber {
  const char* name;
  std::optional<double> value;
};

// The numbers of both formats for programs, under their names.
std::vector<RawNumber> numbers_of(const Pair& pair) {
  const PairJudgement& judgement = pair.judgement;
  const std::optional<Interval> interval = part_of(judgement.t, &PairedT::interval);
  return {{"a_mean", side_mean(pair, &SeedPair::first)},
          {"b_mean", side_mean(pair, &SeedPair::second)},
          {"difference_mean", pair.mean},
          {"difference_std", pair.deviation},
          {"t_low", part_of(interval, &Interval::low)},
          {"t_high", part_of(interval, &Interval::high)},
          {"bootstrap_low", part_of(pair.bootstrap, &Interval::low)},
          {"bootstrap_high", part_of(pair.bootstrap, &Interval::high)},
          {"t", part_of(judgement.t, &PairedT::statistic)},
          {"p_t", part_of(judgement.t, &PairedT::p)},
          {"p_wilcoxon", part_of(judgement.ranks, &SignedRank::p)},
          {"p_wilcoxon_least", part_of(judgement.ranks, &SignedRank::least)},
          {"p_holm", judgement.holm}};
}

}  // namespace

ReaderTable reader_table(const Pairs& pairs) {
  return {.caption = pairs.caption,
          .grid = cell_grid(columns_of(pairs), pairs.pairs),
          .legend = pairs_legend(pairs),
          .notes = pairs.notes};
}

std::string render_pairs_csv(const Pairs& pairs) {
  std::vector<std::string> headings = {"sweep", "a", "b", "metric", "seeds"};
  for (const RawNumber& number : numbers_of({})) headings.emplace_back(number.name);
  headings.emplace_back("verdict");
  std::string text = csv_line(headings);
  for (const Pair& pair : pairs.pairs) {
    std::vector<std::string> fields = {sweep_text(pair.point), pair.first, pair.second, pairs.metric.text,
                                       std::to_string(pair.seeds.size())};
    for (const RawNumber& number : numbers_of(pair)) fields.push_back(csv_number(number.value));
    fields.push_back(verdict_text(pair, pairs.metric));
    text += csv_line(fields);
  }
  return text;
}

std::string render_pairs_json(const Pairs& pairs) {
  Json json;
  json["schema"] = 1;
  json["metric"] = pairs.metric.text;
  json["higher_is_better"] = is_more_better(pairs);
  json["error_rate"] = kErrorRate;
  json["caption"] = pairs.caption;
  json["pairs"] = Json::array();
  for (const Pair& pair : pairs.pairs) {
    Json& entry = json["pairs"].emplace_back(Json::object());
    entry["sweep"] = Json::object();
    for (const auto& [key, value] : pair.point) entry["sweep"][key] = value;
    entry["a"] = pair.first;
    entry["b"] = pair.second;
    for (const RawNumber& number : numbers_of(pair)) entry[number.name] = json_number(number.value);
    entry["verdict"] = verdict_text(pair, pairs.metric);
    entry["seeds"] = Json::array();
    for (const SeedPair& seed : pair.seeds)
      entry["seeds"].push_back(
          {{"seed", seed.seed}, {"a", json_number(seed.first)}, {"b", json_number(seed.second)}});
  }
  json["notes"] = pairs.notes;
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
