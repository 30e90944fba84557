#include "results/measures/quantity.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
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

// Of a round that was evaluated, by itself.
bool is_measure(const CatalogueEntry& entry) {
  return is_quantity(entry) && entry.of_round != nullptr && entry.over_rounds == OverRounds::kLast;
}

std::vector<std::string> names_where(bool (*is)(const CatalogueEntry&)) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (is(entry)) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> quantity_names() { return names_where(is_quantity); }

std::vector<std::string> measure_names() { return names_where(is_measure); }

std::optional<Quantity> find_quantity(const std::string& name) {
  if (name.starts_with(kClass)) {
    const auto label = parse_number<std::int64_t>(std::string_view(name).substr(kClass.size()));
    if (!label || *label < 0) return std::nullopt;
    return quantity_of(*find_entry(kAnyClass), *label);
  }
  const CatalogueEntry* entry = find_entry(name);
  if (entry == nullptr || !is_quantity(*entry)) return std::nullopt;
  return quantity_of(*entry);
}

Quantity quantity_of(const CatalogueEntry& entry, std::int64_t label) {
  const std::string part = entry.name == kAnyClass ? std::to_string(label) : "";
  const auto with_label = [&](std::string_view text) {  // in which "K" stands for the class
    std::string whole(text);
    if (!part.empty()) whole.replace(whole.find('K'), 1, part);
    return whole;
  };
  return {.entry = &entry,
          .name = with_label(entry.name),
          .heading = with_label(entry.heading),
          .words = with_label(entry.words),
          .better = entry.unit == NumberUnit::kShare ? Better::kMore : Better::kLess,
          .evaluated = !entry.axis,
          .label = label,
          .part = part};
}

Quantity observed_quantity(const std::string& name) {
  return {.entry = &*std::ranges::find(catalogue(), std::string_view("observed"), &CatalogueEntry::field),
          .name = name,
          .heading = name,
          .words = "Observed " + name,
          .part = name};
}

std::vector<std::string> attack_quantity_names() {
  return names_of(attack_measures(),
                  [](const AttackMeasure& measure) { return fmt::format("{}:SCORE", measure.name); });
}

std::optional<Quantity> find_attack_quantity(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || colon + 1 == name.size()) return std::nullopt;
  for (const AttackMeasure& measure : attack_measures()) {
    if (name.substr(0, colon) != measure.name) continue;
    const std::string score = name.substr(colon + 1);
    return Quantity{.entry = &measure,
                    .name = name,
                    .heading = fmt::format("{}, {}", score, measure.heading),
                    .words = fmt::format("{} by the score {}", measure.words, score),
                    .better = Better::kLess,
                    .part = score};
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
  if (std::ranges::binary_search(observed, name)) return observed_quantity(name);
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

std::vector<std::optional<double>> values_of(const Quantity& quantity,
                                             const std::optional<PrivacyClaim>& claim,
                                             std::span<const RoundRecord> rounds) {
  const CatalogueEntry& entry = *quantity.entry;
  if (entry.of_round != nullptr) return values_of(entry, claim, rounds);
  std::vector<std::optional<double>> values;
  for (const RoundRecord& round : rounds) {
    std::optional<double>& value = values.emplace_back();
    for (const auto& [name, number] : entry.each_of_round(round)) {
      if (name == quantity.part) value = number;
    }
  }
  return values;
}

}  // namespace fedarena::results
