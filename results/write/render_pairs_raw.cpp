// Pairs for programs: raw numbers.
#include <optional>
#include <string>
#include <vector>

#include "results/text/csv_line.hpp"
#include "results/record/json_fields.hpp"
#include "results/write/render_pairs.hpp"
#include "results/statistics/statistics.hpp"

namespace fedarena::results {
namespace {

std::vector<double> results_of(const Pair& pair, double SeedPair::*member) {
  std::vector<double> values;
  for (const SeedPair& seed : pair.seeds) values.push_back(seed.*member);
  return values;
}

// One number of a pair, or none.
struct RawNumber {
  const char* name;
  std::optional<double> value;
};

// The numbers of both formats, under their names.
std::vector<RawNumber> numbers_of(const Pair& pair) {
  const PairJudgement& judgement = pair.judgement;
  const auto side = [&](double SeedPair::*member) {
    return pair.seeds.empty() ? std::nullopt : std::optional(mean(results_of(pair, member)));
  };
  const auto end_of = [](const std::optional<Interval>& interval, double Interval::*end) {
    return interval ? std::optional((*interval).*end) : std::nullopt;
  };
  const std::optional<Interval> by_t = judgement.t ? std::optional(judgement.t->interval) : std::nullopt;
  return {{"a_mean", side(&SeedPair::first)},
          {"b_mean", side(&SeedPair::second)},
          {"difference_mean", pair.mean},
          {"difference_std", pair.deviation},
          {"t_low", end_of(by_t, &Interval::low)},
          {"t_high", end_of(by_t, &Interval::high)},
          {"bootstrap_low", end_of(pair.bootstrap, &Interval::low)},
          {"bootstrap_high", end_of(pair.bootstrap, &Interval::high)},
          {"t", judgement.t ? std::optional(judgement.t->statistic) : std::nullopt},
          {"p_t", judgement.t ? std::optional(judgement.t->p) : std::nullopt},
          {"p_wilcoxon", judgement.ranks ? std::optional(judgement.ranks->p) : std::nullopt},
          {"p_wilcoxon_least", judgement.ranks ? std::optional(judgement.ranks->least) : std::nullopt},
          {"p_holm", judgement.holm}};
}

}  // namespace

std::string render_pairs_csv(const Pairs& pairs) {
  std::vector<std::string> headings = {"sweep", "a", "b", "metric", "seeds"};
  for (const RawNumber& number : numbers_of({})) headings.emplace_back(number.name);
  headings.emplace_back("verdict");
  std::string text = csv_line(headings);
  for (const Pair& pair : pairs.pairs) {
    std::vector<std::string> fields = {sweep_text(pair.point), pair.first, pair.second, pairs.metric.name(),
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
  json["metric"] = pairs.metric.name();
  json["higher_is_better"] = pairs.metric.higher_is_better();
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
