#include "results/export/round_values.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/measures/catalogue.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// All digits, also of counts that no double holds.
std::string text_of(std::int64_t count) { return std::to_string(count); }
std::string text_of(double number) { return exact_number(number); }

RoundValue value_of(const CatalogueEntry& entry, const RecordedNumber& number,
                    const std::string& suffix = {}) {
  return {.measure = entry.field,
          .group = entry.group,
          .name = std::string(entry.field) + suffix,
          .number = std::visit([](auto each) { return static_cast<double>(each); }, number),
          .text = std::visit([](auto each) { return text_of(each); }, number),
          .upper_bound = entry.unit == NumberUnit::kEpsilon};
}

std::optional<RecordedNumber> epsilon_of(const std::optional<Claim>& claim) {
  return claim && claim->epsilon ? std::optional<RecordedNumber>(*claim->epsilon) : std::nullopt;
}

// Of the last model.
template <typename Wanted>
void add_attack(const MembershipAttack& attack, const Wanted& wanted, std::vector<RoundValue>& values) {
  for (const AttackMeasure& measure : attack_measures()) {
    if (!wanted(measure.field)) continue;
    const double number = attack.separation.*measure.member;
    values.push_back({.measure = measure.field,
                      .group = "attacks",
                      .name = fmt::format("{}_{}", measure.field, attack.score),
                      .number = number,
                      .text = text_of(number)});
  }
}

}  // namespace

std::vector<std::string> exported_measures() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (!entry.field.empty()) names.emplace_back(entry.field);
  }
  for (const AttackMeasure& measure : attack_measures()) names.emplace_back(measure.field);
  return names;
}

std::vector<RoundValue> round_values(const ExportedRun& run, const RoundRecord& round,
                                     const Measures& measures) {
  const Summary& summary = run.summary;
  const auto wanted = [&](std::string_view field) {
    return !field.empty() && (measures.empty() || contains(measures, field));
  };
  const bool last = summary.state == kFinished && round.round == summary.rounds_done;
  std::vector<RoundValue> values;
  for (const CatalogueEntry& entry : catalogue()) {
    if (!wanted(entry.field) || is_secret(entry.draws, summary.privacy)) continue;
    std::optional<RecordedNumber> number = number_of(entry, summary.privacy, round);
    if (entry.claim != nullptr && last && summary.privacy) number = epsilon_of(*summary.privacy.*entry.claim);
    if (number) values.push_back(value_of(entry, *number));
    if (entry.each_of_round == nullptr) continue;
    for (const auto& [word, each] : entry.each_of_round(round))
      values.push_back(value_of(entry, each, "_" + word));
  }
  if (last && run.attacks) {
    for (const MembershipAttack& attack : run.attacks->attacks) add_attack(attack, wanted, values);
  }
  return values;
}

}  // namespace fedarena::results
