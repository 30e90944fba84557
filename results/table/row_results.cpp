#include "results/table/row_results.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/table/table.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Reads every seed of a row, which has a result when all of them have one; returns those without, by reason.
SeedsByText read_row(const RoundMetric& metric, Row& row) {
  SeedsByText missing;
  std::vector<double> values;
  for (SeedResult& seed : row.seeds) {
    const Reading reading = read_metric(metric, seed.summary, seed.path);
    seed.metric = reading.value;
    seed.metric_round = reading.round;
    if (reading.value) {
      values.push_back(*reading.value);
    } else {
      add_seed(missing, reading.missing, seed.seed());
    }
  }
  row.result.reset();
  if (missing.empty()) {
    row.result = Result{.spread = spread_of(values),
                        .share = metric.quantity.is_share(),
                        .better = metric.quantity.better,
                        .bound = metric.quantity.is_epsilon()};
  }
  return missing;
}

std::vector<std::int64_t> seeds_of(const Row& row) {
  std::vector<std::int64_t> seeds;
  for (const SeedResult& seed : row.seeds) seeds.push_back(seed.seed());
  return seeds;
}

// Of two rows of a kind.
bool better(const Row& left, const Row& right) {
  const double first = left.result->spread.mean, second = right.result->spread.mean;
  if (left.result->better == Better::kMore) return first > second;
  return first < second;
}

// "cohort.size (fedavg 1, fedprox 10)": the first condition in which some row differs from the first one.
std::string different_condition(std::span<const Row> rows) {
  for (const Row& row : rows.subspan(1)) {
    const std::int64_t rounds = rows.front().summary().rounds, others = row.summary().rounds;
    if (rounds != others)
      return fmt::format("rounds ({} {}, {} {})", row_name(rows.front()), rounds, row_name(row), others);
    const auto found = condition_differences(rows.front().conditions, row.conditions);
    if (found.empty()) continue;
    const ConditionDifference& first = found.front();
    return fmt::format("{} ({} {}, {} {})", first.key, row_name(rows.front()), first.left, row_name(row),
                       first.right);
  }
  return {};
}

// Of one setting: marks its best, or returns the note that says why its rows cannot be compared.
std::string compare(std::span<Row> rows, const std::string& where) {
  // Of what algorithms observe, nobody knows whether more or less is better.
  const bool unranked = std::ranges::any_of(
      rows, [](const Row& row) { return row.result && row.result->better == Better::kNeither; });
  if (rows.size() < 2 || unranked) return {};
  const auto differs = [&](auto property) {
    return std::ranges::any_of(rows, [&](const Row& row) { return property(row) != property(rows.front()); });
  };
  if (differs([](const Row& row) { return row.seeds.size(); })) {
    const auto count = [](const Row& row) { return fmt::format("{} {}", row_name(row), row.seeds.size()); };
    return fmt::format("{}rows rest on different numbers of seeds ({}), so none is marked as the best", where,
                       joined(rows, ", ", count));
  }
  if (const std::string condition = different_condition(rows); !condition.empty())
    return fmt::format("{}rows differ in {}, so none is marked as the best", where, condition);
  const auto claims = [&](bool finite) {
    return std::ranges::any_of(
        rows, [&](const Row& row) { return row.privacy && is_finite(*row.privacy) == finite; });
  };
  if (claims(true) && claims(false))
    return fmt::format("{}only some rows have a finite epsilon, so none is marked as the best", where);
  const bool all = std::ranges::all_of(rows, [](const Row& row) { return row.result.has_value(); });
  if (!all || differs([](const Row& row) { return row.result->share; })) return {};
  // What diverged is never the best, whatever class it happens to guess.
  std::vector<Row*> sound;
  for (Row& row : rows) {
    const bool some_diverged =
        std::ranges::any_of(row.seeds, [](const SeedResult& seed) { return diverged(seed.summary); });
    if (!some_diverged && std::isfinite(row.result->spread.mean)) sound.push_back(&row);
  }
  if (!sound.empty()) {
    const auto best = std::ranges::min_element(
        sound, [](const Row* left, const Row* right) { return better(*left, *right); });
    const std::string top = mean_text(*(*best)->result);
    for (Row* row : sound) row->best = mean_text(*row->result) == top;
  }
  if (!differs(seeds_of)) return {};
  return fmt::format("{}rows rest on different seeds, so their comparison is not paired", where);
}

}  // namespace

std::string mean_text(const Result& result) {
  constexpr int kDigits = 4;  // that are printed
  const double mean = result.spread.mean;
  if (result.share) return percent(mean);
  return measured(result.bound && std::isfinite(mean) ? rounded_up(mean, kDigits) : mean);
}

std::vector<std::string> read_metric(const RoundMetric& metric, std::vector<Row>& rows,
                                     const SettingNames& names) {
  std::vector<std::string> notes;
  for (Row& row : rows) {
    for (const auto& [reason, seeds] : read_row(metric, row)) {
      notes.push_back(fmt::format("{}: {} has no value, because {} {} {}", names.of(row), metric.text,
                                  seeds_text(seeds), seeds.size() == 1 ? "has" : "have", reason));
    }
  }
  if (is_spent_until_the_end(metric) && std::ranges::any_of(rows, is_stopped_early)) {
    for (Row& row : rows) {
      if (row.result) row.result->better = Better::kNeither;
    }
  }
  return notes;
}

std::vector<std::string> mark_best(std::vector<Row>& rows, const SettingNames& names) {
  std::vector<std::string> notes;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const Setting setting = begin->setting;
    const auto end =
        std::find_if(begin, rows.end(), [&](const Row& row) { return !(row.setting == setting); });
    std::string name = names.of(setting);
    if (!name.empty()) name += ": ";
    std::string note = compare({begin, end}, name);
    if (!note.empty()) notes.push_back(std::move(note));
    begin = end;
  }
  return notes;
}

}  // namespace fedarena::results
