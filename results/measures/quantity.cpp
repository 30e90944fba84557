#include "results/measures/quantity.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

constexpr std::string_view kClass = "class:", kAnyClass = "class:K";

// An axis that does not sum is only an axis.
bool is_quantity(const CatalogueEntry& entry) {
  return !entry.name.empty() && (!entry.axis || entry.over_rounds == OverRounds::kSum);
}

void add_observed(const RoundRecord& round, std::set<std::string>& names) {
  for (const auto& [name, value] : round.observed) names.insert(name);
}

// A text of the catalogue, in which "K" stands for the class.
std::string with_label(std::string_view text, const Quantity& quantity) {
  std::string whole(text);
  if (quantity.entry->name == kAnyClass) whole.replace(whole.find('K'), 1, std::to_string(quantity.label));
  return whole;
}

}  // namespace

std::vector<std::string> quantity_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (is_quantity(entry)) names.emplace_back(entry.name);
  }
  return names;
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (is_quantity(entry) && entry.of_round != nullptr && entry.over_rounds == OverRounds::kLast)
      names.emplace_back(entry.name);
  }
  return names;
}

std::optional<Quantity> find_quantity(const std::string& name) {
  if (name.starts_with(kClass)) {
    const auto label = parse_number<std::int64_t>(std::string_view(name).substr(kClass.size()));
    if (!label || *label < 0) return std::nullopt;
    return Quantity{.entry = find_entry(kAnyClass), .label = *label};
  }
  const CatalogueEntry* entry = find_entry(name);
  if (entry == nullptr || !is_quantity(*entry)) return std::nullopt;
  return Quantity{.entry = entry};
}

std::vector<std::string> attack_quantity_names() {
  std::vector<std::string> names;
  for (const AttackMeasure& measure : attack_measures())
    names.push_back(fmt::format("{}:SCORE", measure.name));
  return names;
}

std::optional<Quantity> find_attack_quantity(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || colon + 1 == name.size()) return std::nullopt;
  for (const AttackMeasure& measure : attack_measures()) {
    if (name.substr(0, colon) == measure.name)
      return Quantity{.attack = &measure, .score = name.substr(colon + 1)};
  }
  return std::nullopt;
}

Quantity known_quantity(const std::string& name) {
  const std::optional<Quantity> quantity = find_quantity(name);
  if (!quantity) throw Bug(fmt::format("no quantity is called {}", name));
  return *quantity;
}

Quantity parse_quantity(std::string_view option, const std::string& name, std::span<const FoundRun> runs,
                        const std::vector<std::string>& others) {
  if (const std::optional<Quantity> quantity = find_quantity(name)) return *quantity;
  if (find_attack_quantity(name)) {
    throw Error(Complaint{
        .found =
            fmt::format("{}: \"{}\" is of attacks on finished runs, which rounds do not have", option, name),
        .remedy = "`fedarena table --metric` prints it, `fedarena plot --roc` draws what it comes from."});
  }
  const std::vector<std::string> observed = observed_names(runs);
  if (std::ranges::binary_search(observed, name)) return Quantity{.observed = name};
  std::vector<std::string> names = quantity_names();
  names.insert(names.end(), observed.begin(), observed.end());
  names.insert(names.end(), others.begin(), others.end());
  throw Error(Complaint{.found = fmt::format("{}: \"{}\" is unknown", option, name),
                        .allowed = join_names(names),
                        .nearest = nearest_name(name, names)});
}

std::vector<std::string> observed_names(std::span<const RoundRecord> rounds) {
  std::set<std::string> names;
  for (const RoundRecord& round : rounds) add_observed(round, names);
  return {names.begin(), names.end()};
}

std::vector<std::string> observed_names(std::span<const FoundRun> runs) {
  std::set<std::string> names;
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished) continue;
    for_each_round(run.path / kRoundsFile, [&](const RoundRecord& round) { add_observed(round, names); });
  }
  return {names.begin(), names.end()};
}

std::string name_of(const Quantity& quantity) {
  if (quantity.attack != nullptr) return fmt::format("{}:{}", quantity.attack->name, quantity.score);
  return quantity.entry == nullptr ? quantity.observed : with_label(quantity.entry->name, quantity);
}

std::string heading(const Quantity& quantity) {
  if (quantity.attack != nullptr) return fmt::format("{}, {}", quantity.score, quantity.attack->heading);
  return quantity.entry == nullptr ? quantity.observed : with_label(quantity.entry->heading, quantity);
}

std::string describe(const Quantity& quantity) {
  if (quantity.attack != nullptr)
    return fmt::format("{} by the score {}", quantity.attack->words, quantity.score);
  return quantity.entry == nullptr ? "Observed " + quantity.observed
                                   : with_label(quantity.entry->words, quantity);
}

std::string recorded_with(const Quantity& quantity) {
  return quantity.entry == nullptr ? std::string() : std::string(quantity.entry->recorded_with);
}

bool is_share(const Quantity& quantity) {
  if (quantity.attack != nullptr) return quantity.attack->unit == NumberUnit::kShare;
  return quantity.entry != nullptr && quantity.entry->unit == NumberUnit::kShare;
}

bool is_epsilon(const Quantity& quantity) {
  return quantity.entry != nullptr && quantity.entry->unit == NumberUnit::kEpsilon;
}

bool is_secret(const Quantity& quantity, const std::optional<PrivacyClaim>& claim) {
  return quantity.entry != nullptr && is_secret(quantity.entry->draws, claim);
}

Better better(const Quantity& quantity) {
  if (quantity.attack != nullptr) return Better::kLess;
  if (quantity.entry == nullptr) return Better::kNeither;
  return is_share(quantity) ? Better::kMore : Better::kLess;
}

bool is_evaluated(const Quantity& quantity) { return quantity.entry != nullptr && !quantity.entry->axis; }

std::vector<std::optional<double>> values_of(const Quantity& quantity,
                                             const std::optional<PrivacyClaim>& claim,
                                             std::span<const RoundRecord> rounds) {
  const CatalogueEntry* entry = quantity.entry;
  if (entry != nullptr && entry->of_round != nullptr) return values_of(*entry, claim, rounds);
  const std::string word = entry == nullptr ? quantity.observed : std::to_string(quantity.label);
  std::vector<std::optional<double>> values;
  for (const RoundRecord& round : rounds) {
    std::optional<double>& value = values.emplace_back();
    for (const auto& [name, number] : entry == nullptr ? round.observed : entry->each_of_round(round)) {
      if (name == word) value = number;
    }
  }
  return values;
}

}  // namespace fedarena::results
