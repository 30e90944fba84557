#include "results/measures/choices.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

// What the client took, round by round, without its absences.
std::vector<std::int64_t> taken(const Choices::Row& row) {
  std::vector<std::int64_t> models = row.models;
  std::erase(models, Choices::kAbsent);
  return models;
}

std::int64_t most_frequent(const std::vector<std::int64_t>& models) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t model : models) ++counts[model];
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace

Choices choices_of(std::span<const RoundRecord> rounds) {
  Choices all;
  std::map<std::int64_t, Choices::Row> rows;
  for (const RoundRecord& round : rounds) {
    if (round.choices.empty()) continue;
    const std::size_t position = all.rounds.size();
    all.rounds.push_back(round.round);
    for (const auto& [client, model] : round.choices) {
      Choices::Row& row = rows[client];
      row.client = client;
      row.models.resize(position, Choices::kAbsent);
      row.models.push_back(model);
      all.models = std::max(all.models, model + 1);
    }
  }
  for (auto& [client, row] : rows) {
    row.most = most_frequent(taken(row));
    row.models.resize(all.rounds.size(), Choices::kAbsent);
    all.rows.push_back(std::move(row));
  }
  std::ranges::sort(all.rows, {}, [](const Choices::Row& row) { return std::tuple(row.most, row.client); });
  return all;
}

std::string choices_text(const Choices& choices) {
  std::size_t again = 0, same = 0;
  std::map<std::int64_t, std::size_t> last;
  for (const Choices::Row& row : choices.rows) {
    const std::vector<std::int64_t> models = taken(row);
    ++last[models.back()];
    if (models.size() < 2) continue;
    ++again;
    if (std::ranges::count(models, models.front()) == std::ssize(models)) ++same;
  }
  std::vector<std::string> parts;
  for (const auto& [model, clients] : last) parts.push_back(fmt::format("{} model {}", clients, model));
  return fmt::format("{}; {} of the {} that took part more than once always took the same model; last, {}",
                     counted(choices.rows.size(), "client"), same, again, fmt::join(parts, ", "));
}

}  // namespace fedarena::results
