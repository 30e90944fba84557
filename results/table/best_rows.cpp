#include "results/table/best_rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

std::vector<std::int64_t> seeds_of(const Row& row) {
  std::vector<std::int64_t> seeds;
  for (const SeedResult& seed : row.seeds) seeds.push_back(seed.seed);
  return seeds;
}

// A row's result as it is printed, and whether `left` is the better one of two rows of a kind.
std::string printed(const Row& row) {
  return row.result->share ? percent(row.result->spread.mean) : measured(row.result->spread.mean);
}

bool better(const Row& left, const Row& right) {
  const double first = left.result->spread.mean, second = right.result->spread.mean;
  if (left.result->better == Better::kMore) return first > second;
  // What diverged to "not a number" is worse than everything.
  return first < second || (std::isnan(second) && !std::isnan(first));
}

// Of one setting: marks its best, or returns the note that says why its rows cannot be compared.
std::string compare(std::span<Row> rows, const std::string& where) {
  // Of what algorithms observe, nobody knows whether more or less is better.
  const bool unranked = std::ranges::any_of(
      rows, [](const Row& row) { return row.result && row.result->better == Better::kNeither; });
  if (rows.size() < 2 || unranked) return {};
  const auto differs = [&](auto property) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return property(row) != property(rows.front()); });
  };
  if (differs([](const Row& row) { return row.seeds.size(); })) {
    std::string counts;
    for (const Row& row : rows) {
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", row_name(row), row.seeds.size());
    }
    return fmt::format("{}rows rest on different numbers of seeds ({}), so none is marked as the best", where,
                       counts);
  }
  const bool all =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.result.has_value(); });
  if (!all || differs([](const Row& row) { return row.result->share; })) return {};
  const std::string top = printed(*std::min_element(rows.begin(), rows.end(), better));
  for (Row& row : rows) row.best = printed(row) == top;
  if (!differs(seeds_of)) return {};
  return fmt::format("{}rows rest on different seeds, so their comparison is not paired", where);
}

}  // namespace

std::vector<std::string> mark_best(std::vector<Row>& rows,
                                   const std::function<std::string(const Setting&)>& where) {
  std::vector<std::string> notes;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const Setting setting = begin->setting;
    const auto end =
        std::find_if(begin, rows.end(), [&](const Row& row) { return !(row.setting == setting); });
    std::string name = where(setting);
    if (!name.empty()) name += ": ";
    std::string note = compare({begin, end}, name);
    if (!note.empty()) notes.push_back(std::move(note));
    begin = end;
  }
  return notes;
}

}  // namespace fedarena::results
