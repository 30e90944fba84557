#include "results/table/rows.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"
#include "results/table/notes.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

int compare_sweeps(const Sweep& left, const Sweep& right) {
  for (std::size_t index = 0; index < std::min(left.size(), right.size()); ++index) {
    if (const int order = compare_natural(left[index].first, right[index].first)) return order;
    if (const int order = compare_values(left[index].second, right[index].second)) return order;
  }
  return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

// What the runs of a row must share, as text, so that a mean is never taken over different things.
std::vector<std::pair<std::string, std::string>> identity(const Summary& summary) {
  const PrivacyClaim claim = summary.privacy.value_or(PrivacyClaim{});
  const CanaryAudit audit = summary.audit.value_or(CanaryAudit{});
  return {{"algorithm", summary.algorithm},
          {"rounds", std::to_string(summary.rounds)},
          {"clients", std::to_string(summary.clients)},
          {"parameters", std::to_string(summary.parameters)},
          {"final_test_accuracy", summary.final_test_accuracy ? "a number" : "null"},
          {"policy", summary.policy},
          {"dataset_note", summary.dataset_note},
          {"adjacency", claim.adjacency},
          {"delta", exact_number(claim.settings.delta)},
          {"orders", claim.settings.orders},
          {"conversion", claim.settings.conversion},
          {"assume", claim.settings.assume},
          {"as_if_epsilon_rdp", claim.as_if_rdp ? "an epsilon" : "null"},
          {"budget", to_text(Value(claim.budget))},
          {"tuning", search_text(summary.tuning)},
          {"audit", audit.control ? audit.kind + ", without noise" : audit.kind},
          {"canaries", std::to_string(audit.canaries)},
          {"guesses", std::to_string(audit.guesses)}};
}

// The parameters of the run's algorithm by name, and "nothing" for those that only the other one has: a run
// of another version may lack some.
std::map<std::string, std::string> parameters_beside(const Summary& summary, const Summary& other) {
  std::map<std::string, std::string> parameters(summary.algorithm_parameters.begin(),
                                                summary.algorithm_parameters.end());
  for (const auto& [name, value] : other.algorithm_parameters) parameters.try_emplace(name, "nothing");
  return parameters;
}

[[noreturn]] void reject_pair(const FoundRun& first, const FoundRun& second, const std::string& what) {
  throw Error(Complaint{.found = fmt::format("{} and {} {}", first.path.string(), second.path.string(), what),
                        .remedy = "name only one of them, or give their algorithm entries different labels"});
}

// In conditions that both have: records from before there was a setting lack it.
std::vector<ConditionDifference> differing(const std::map<std::string, std::string>& left,
                                           const std::map<std::string, std::string>& right) {
  std::vector<ConditionDifference> differences;
  for (const auto& [key, value] : left) {
    const auto found = right.find(key);
    if (found != right.end() && found->second != value) differences.push_back({key, value, found->second});
  }
  return differences;
}

// Of the same row.
void check_pair(const FoundRun& first, const FoundRun& second) {
  const auto check = [&](const std::string& what, const std::string& left, const std::string& right) {
    if (left == right) return;
    reject_pair(first, second,
                fmt::format("belong to one row, \"{}\", but differ in {}: \"{}\" and \"{}\"",
                            first.summary->label, what, left, right));
  };
  // Before the settings, which are the same.
  check(fmt::format("the SHA-256 of {}", first.summary->dataset), first.summary->data_hash,
        second.summary->data_hash);
  const auto left = identity(*first.summary);
  const auto right = identity(*second.summary);
  for (std::size_t i = 0; i < left.size(); ++i) check(left[i].first, left[i].second, right[i].second);
  for (const auto& [key, one, other] : differing(parameters_beside(*first.summary, *second.summary),
                                                 parameters_beside(*second.summary, *first.summary)))
    check(key, one, other);
  for (const auto& [key, one, other] :
       differing(row_conditions(first.settings), row_conditions(second.settings)))
    check(key, one, other);
  if (first.summary->seed == second.summary->seed) {
    reject_pair(first, second,
                fmt::format("both hold seed {} of \"{}\"", first.summary->seed, first.summary->label));
  }
}

// By seed, so that neither sums nor messages depend on the order in which runs were given.
bool is_earlier(const FoundRun* left, const FoundRun* right) {
  if (left->summary->seed != right->summary->seed) return left->summary->seed < right->summary->seed;
  return natural_less(left->path.generic_string(), right->path.generic_string());
}

using Groups = std::map<RowKey, std::vector<const FoundRun*>, RowOrder>;

Groups grouped(const std::vector<const FoundRun*>& runs) {
  Groups groups;
  for (const FoundRun* run : runs) {
    RowKey key = key_of(*run->summary);
    key.place = run->place;
    groups[std::move(key)].push_back(run);
  }
  for (auto& [key, group] : groups) std::ranges::sort(group, is_earlier);
  return groups;
}

std::vector<Setting> all_settings(const Rows& rows) {
  std::vector<Setting> settings;
  for (const RowRuns& row : rows.rows) settings.push_back(row.key.setting);
  for (const FoundRun* run : rows.unfinished) settings.push_back(key_of(*run->summary).setting);
  return settings;
}

// All keys that a grid gives to any row; none where it gives the same to all.
std::vector<std::string> keys_where_different(const Rows& rows) {
  const std::vector<Setting> settings = all_settings(rows);
  const auto different = std::ranges::adjacent_find(settings, std::ranges::not_equal_to(), &Setting::sweep);
  std::vector<std::string> keys;
  if (different == settings.end()) return keys;
  for (const Setting& setting : settings) {
    for (const auto& [key, value] : setting.sweep) keys.push_back(key);
  }
  return keys;
}

// Not [privacy], which is that of algorithms without a policy of their own; each has its own in full.
constexpr std::array<std::string_view, 6> kConditions = {
    "audit.", "cohort.", "evaluation.", "stopping.", "experiment.dtype", "algorithms.privacy."};

}  // namespace

bool is_choice(std::string_view key) {
  const auto* part = find_named(kSettingParts, key, &SettingPart::key);
  return part != nullptr && !part->chosen.empty();
}

Sweep RowKey::whole_sweep() const {
  Sweep whole = setting.sweep;
  whole.insert(whole.end(), own_sweep.begin(), own_sweep.end());
  return whole;
}

std::optional<std::string> swept_value(const Sweep& sweep, const std::string& key) {
  const auto* found = find_named(sweep, key, &Sweep::value_type::first);
  return found == nullptr ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> differing_keys(std::span<const Sweep> sweeps) {
  std::set<std::string, NaturalOrder> keys;
  for (const Sweep& sweep : sweeps) {
    for (const auto& [key, value] : sweep) keys.insert(key);
  }
  std::erase_if(keys, [&](const std::string& key) {
    const auto value_in = [&](const Sweep& sweep) { return swept_value(sweep, key); };
    return std::ranges::adjacent_find(sweeps, std::ranges::not_equal_to(), value_in) == sweeps.end();
  });
  return {keys.begin(), keys.end()};
}

std::string row_name(const RowKey& key) {
  return key.own_sweep.empty() ? key.label : fmt::format("{}, {}", key.label, sweep_text(key.own_sweep));
}

RowKey key_of(const Summary& summary) {
  return {.setting = {.experiment = summary.experiment,
                      .dataset = summary.dataset,
                      .partition = summary.partition,
                      .model = summary.model,
                      .sweep = shared_sweep(summary.sweep)},
          .label = summary.label,
          .own_sweep = own_sweep(summary.sweep, summary.label)};
}

bool RowOrder::operator()(const RowKey& left, const RowKey& right) const {
  const Setting &first = left.setting, &second = right.setting;
  if (const int order = compare_natural(first.experiment, second.experiment)) return order < 0;
  if (const int order = compare_sweeps(first.sweep, second.sweep)) return order < 0;
  for (const SettingPart& part : kSettingParts) {
    if (const int order = compare_natural(first.*part.member, second.*part.member)) return order < 0;
  }
  if (left.place != right.place) return left.place < right.place;
  if (const int order = compare_natural(left.label, right.label)) return order < 0;
  return compare_sweeps(left.own_sweep, right.own_sweep) < 0;
}

bool part_varies(std::span<const Setting> settings, const SettingPart& part) {
  std::map<std::string, std::string> by_sweep, rests;
  std::set<std::string> values;
  for (const Setting& setting : settings) {
    const std::string& value = setting.*part.member;
    const bool is_swept = swept_value(setting.sweep, std::string(part.chosen)).has_value();
    const std::string rest = without_swept(value, setting.sweep, part.section);
    if (rests.emplace(is_swept ? name_of_choice(value) : "", rest).first->second != rest) return true;
    const auto [first, fresh] = by_sweep.emplace(swept_in(setting.sweep, part.section), value);
    values.insert(value);
    const bool unswept = by_sweep.contains("") && by_sweep.size() > 1;
    if (first->second != value || (unswept && values.size() > 1)) return true;
  }
  return false;
}

const FoundRun* RowRuns::of_seed(std::int64_t seed) const {
  const auto found =
      std::ranges::find_if(runs, [&](const FoundRun* run) { return run->summary->seed == seed; });
  return found == runs.end() ? nullptr : *found;
}

std::vector<std::int64_t> RowRuns::seeds_where(const std::function<bool(const FoundRun&)>& is) const {
  std::vector<std::int64_t> seeds;
  for (const FoundRun* run : runs) {
    if (is(*run)) seeds.push_back(run->summary->seed);
  }
  return seeds;
}

std::optional<PrivacyClaim> RowRuns::privacy() const {
  std::optional<PrivacyClaim> claim = summary().privacy;
  for (const FoundRun* run : runs) {
    if (claim) claim = joint(*claim, *run->summary->privacy);
  }
  return claim;
}

void add_seed(SeedsByText& seeds, const std::string& text, std::int64_t seed) {
  const auto known = std::ranges::find(seeds, text, &SeedsByText::value_type::first);
  if (known != seeds.end()) return known->second.push_back(seed);
  seeds.push_back({text, {seed}});
}

Rows gather_rows(std::vector<const FoundRun*> runs) {
  Rows gathered;
  std::vector<const FoundRun*> finished, unfinished;
  for (const FoundRun* run : runs) {
    auto& kind = !run->summary ? gathered.broken : run->summary->state == kFinished ? finished : unfinished;
    kind.push_back(run);
  }
  for (auto& [key, group] : grouped(finished)) gathered.rows.push_back({key, std::move(group)});
  for (const auto& [key, group] : grouped(unfinished))
    gathered.unfinished.insert(gathered.unfinished.end(), group.begin(), group.end());
  return gathered;
}

Rows gather_rows(std::span<const FoundRun> runs) {
  std::vector<const FoundRun*> pointers;
  for (const FoundRun& run : runs) pointers.push_back(&run);
  return gather_rows(std::move(pointers));
}

void check_row(const RowRuns& row) {
  for (std::size_t i = 1; i < row.runs.size(); ++i) check_pair(*row.runs[i - 1], *row.runs[i]);
}

std::map<std::string, std::string> row_conditions(const ResolvedSettings& settings) {
  std::map<std::string, std::string> conditions = settings.texts;
  std::erase_if(conditions, [](const auto& setting) {
    return std::ranges::none_of(kConditions,
                                [&](std::string_view begin) { return setting.first.starts_with(begin); });
  });
  return conditions;
}

std::vector<ConditionDifference> condition_differences(std::map<std::string, std::string> left,
                                                       std::map<std::string, std::string> right) {
  for (auto* conditions : {&left, &right}) {
    if (!conditions->empty()) conditions->try_emplace("audit.kind", "none");  // as it is written: not at all
  }
  auto differences = differing(left, right);
  std::erase_if(differences,
                [](const ConditionDifference& found) { return found.key.starts_with("algorithms."); });
  return differences;
}

SettingNames::SettingNames(std::span<const Setting> settings, std::vector<std::string> keys)
    : keys_(std::move(keys)) {
  for (const SettingPart& part : kSettingParts) {
    if (part_varies(settings, part)) parts_.push_back(part);
  }
}

SettingNames::SettingNames(const Rows& rows) : SettingNames(all_settings(rows), keys_where_different(rows)) {}

std::string SettingNames::of(const Setting& setting) const {
  std::vector<std::string> texts;
  for (const SettingPart& part : parts_)
    texts.push_back(fmt::format("{} {}", part.name, setting.*part.member));
  for (const auto& [key, value] : setting.sweep) {
    if (contains(keys_, key)) texts.push_back(fmt::format("{}={}", key, value));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string SettingNames::title_of(const Setting& setting) const {
  const std::string where = of(setting);
  return where.empty() && !keys_.empty() ? "no swept setting" : where;
}

std::string SettingNames::of(const RowKey& row) const {
  const std::string where = of(row.setting);
  return where.empty() ? row_name(row) : fmt::format("{} ({})", row_name(row), where);
}

}  // namespace fedarena::results
