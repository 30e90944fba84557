#include "results/measures/choices.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

std::int64_t most_frequent(const std::vector<Choices::Taken>& taken) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const Choices::Taken& one : taken) ++counts[one.model];
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace

Choices choices_of(std::span<const RoundRecord> rounds) {
  Choices all;
  std::map<std::int64_t, Choices::Row> rows;
  std::set<std::int64_t> models;
  for (const RoundRecord& round : rounds) {
    if (round.choices.empty()) continue;
    for (const auto& [client, model] : round.choices) {
      rows[client].taken.push_back({all.rounds.size(), model});
      models.insert(model);
    }
    all.rounds.push_back(round.round);
  }
  all.models.assign(models.begin(), models.end());
  for (auto& [client, row] : rows) {
    row.client = client;
    row.most = most_frequent(row.taken);
    all.rows.push_back(std::move(row));
  }
  std::ranges::sort(all.rows, {}, [](const Choices::Row& row) { return std::tuple(row.most, row.client); });
  return all;
}

std::string choices_text(const Choices& choices) {
  std::size_t again = 0, same = 0;
  std::map<std::int64_t, std::size_t> last;
  for (const Choices::Row& row : choices.rows) {
    ++last[row.taken.back().model];
    if (row.taken.size() < 2) continue;
    ++again;
    if (std::ranges::all_of(row.taken, [&](const auto& one) { return one.model == row.most; })) ++same;
  }
  const auto part = [](const auto& of) { return fmt::format("{} model {}", of.second, of.first); };
  return fmt::format("{}; {} of the {} that took part more than once always took the same model; last, {}",
                     counted(choices.rows.size(), "client"), same, again, joined(last, ", ", part));
}

}  // namespace fedarena::results
