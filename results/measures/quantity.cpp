#include "results/measures/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

constexpr std::string_view kClass = "class:";

struct BestName {
  Measure of;
  const char *name, *heading, *words;
};
constexpr std::array<BestName, 2> kBestNames = {
    {{Measure::kClientAccuracy, "bmta", "BMTA (%)", "BMTA (best mean over clients of accuracy"},
     {Measure::kClientMacroF1, "bmt-f1", "BMT-F1 (%)", "BMT-F1 (best mean over clients of macro F1"}}};

struct Facts {
  std::string name, heading, words;
  Better better;
  bool share;
  std::string recorded_with = {};
};

Facts facts_of(Measure measure) {
  const bool share = is_share(measure);
  const Better direction = share ? Better::kMore : Better::kLess;
  return {name_of(measure), heading(measure), describe(measure), direction, share, recorded_with(measure)};
}
Facts facts_of(const OfClass& of) {
  return {fmt::format("{}{}", kClass, of.label), fmt::format("class {} (%)", of.label),
          fmt::format("Accuracy on test examples of class {}", of.label), Better::kMore, true};
}
Facts facts_of(const BestSoFar& best) {
  const BestName& names = *std::ranges::find(kBestNames, best.of, &BestName::of);
  std::string words = fmt::format("{} of any round so far, hence chosen on test examples)", names.words);
  return {names.name, names.heading, std::move(words), Better::kMore, true, recorded_with(best.of)};
}
Facts facts_of(const Spent& spent) {
  const CurveAxis& axis = *spent.axis;
  return {std::string(axis.name), std::string(axis.heading), std::string(axis.words), Better::kLess, false};
}
Facts facts_of(const Observed& observed) {
  return {observed.name, observed.name, "Observed " + observed.name, Better::kNeither, false};
}
Facts facts_of(const Quantity& quantity) {
  return std::visit([](const auto& each) { return facts_of(each); }, quantity);
}

using Value = std::optional<double>;

Value value_of(const OfClass& of, const RoundRecord& round) {
  const auto label = static_cast<std::size_t>(of.label);
  if (!round.classes || label >= round.classes->accuracy.size()) return std::nullopt;
  return round.classes->accuracy[label];
}
Value value_of(const Observed& observed, const RoundRecord& round) {
  const auto found = std::ranges::find(round.observed, observed.name,
                                       [](const auto& entry) -> const std::string& { return entry.first; });
  return found == round.observed.end() ? std::nullopt : Value(found->second);
}

template <typename Kind>
std::vector<Value> values(const Kind& kind, std::span<const RoundRecord> rounds) {
  std::vector<Value> values;
  for (const RoundRecord& round : rounds) values.push_back(value_of(kind, round));
  return values;
}
std::vector<Value> values(const BestSoFar& best, std::span<const RoundRecord> rounds) {
  std::vector<Value> values;
  Value largest;
  for (const RoundRecord& round : rounds) {
    const Value value = value_of(best.of, round);
    if (value) largest = std::max(*value, largest.value_or(0));
    values.push_back(value ? largest : std::nullopt);
  }
  return values;
}
std::vector<Value> values(const Spent& spent, std::span<const RoundRecord> rounds) {
  return positions_on(*spent.axis, rounds);
}

std::optional<Quantity> find_class(std::string_view text) {
  std::int64_t label = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (failure != std::errc() || end != text.data() + text.size() || label < 0) return std::nullopt;
  return OfClass{label};
}

}  // namespace

std::vector<std::string> quantity_names() {
  std::vector<std::string> names = measure_names();
  names.push_back(std::string(kClass) + "K");
  for (const BestName& best : kBestNames) names.emplace_back(best.name);
  for (const CurveAxis& axis : curve_axes()) {
    if (axis.summed) names.emplace_back(axis.name);
  }
  return names;
}

std::optional<Quantity> find_quantity(const std::string& name) {
  if (const std::optional<Measure> measure = find_measure(name)) return *measure;
  if (name.starts_with(kClass)) return find_class(std::string_view(name).substr(kClass.size()));
  for (const BestName& best : kBestNames) {
    if (name == best.name) return BestSoFar{best.of};
  }
  for (const CurveAxis& axis : curve_axes()) {
    if (axis.summed && name == axis.name) return Spent{&axis};
  }
  return std::nullopt;
}

Quantity parse_quantity(std::string_view option, const std::string& name, std::span<const FoundRun> runs) {
  if (const std::optional<Quantity> quantity = find_quantity(name)) return *quantity;
  const std::vector<std::string> observed = observed_names(runs);
  if (std::ranges::binary_search(observed, name)) return Observed{name};
  std::vector<std::string> names = quantity_names();
  names.insert(names.end(), observed.begin(), observed.end());
  throw Error(Complaint{.found = fmt::format("{}: \"{}\" is unknown", option, name),
                        .allowed = join_names(names),
                        .nearest = nearest_name(name, names)});
}

std::vector<std::string> observed_names(std::span<const RoundRecord> rounds) {
  std::set<std::string> names;
  for (const RoundRecord& round : rounds) {
    for (const auto& [name, value] : round.observed) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> observed_names(std::span<const FoundRun> runs) {
  std::set<std::string> names;
  for (const FoundRun& run : runs) {
    if (!run.summary || run.summary->state != kFinished) continue;
    for (const std::string& each : observed_names(RunDirectory::open(run.path).rounds())) names.insert(each);
  }
  return {names.begin(), names.end()};
}

std::string name_of(const Quantity& quantity) { return facts_of(quantity).name; }
std::string heading(const Quantity& quantity) { return facts_of(quantity).heading; }
std::string describe(const Quantity& quantity) { return facts_of(quantity).words; }
std::string recorded_with(const Quantity& quantity) { return facts_of(quantity).recorded_with; }
bool is_share(const Quantity& quantity) { return facts_of(quantity).share; }
Better better(const Quantity& quantity) { return facts_of(quantity).better; }

bool is_evaluated(const Quantity& quantity) {
  return std::holds_alternative<Measure>(quantity) || std::holds_alternative<OfClass>(quantity) ||
         std::holds_alternative<BestSoFar>(quantity);
}

std::vector<Value> values_of(const Quantity& quantity, std::span<const RoundRecord> rounds) {
  return std::visit([&](const auto& kind) { return values(kind, rounds); }, quantity);
}

}  // namespace fedarena::results
