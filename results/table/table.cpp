#include "results/table/table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/record/attack_file.hpp"
#include "results/record/test_metrics.hpp"
#include "results/table/notes.hpp"
#include "results/table/row_results.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// A number of each run.
template <typename Value>
std::vector<double> of_seeds(const Row& row, const Value& value_of) {
  std::vector<double> values;
  for (const SeedResult& seed : row.seeds)
    values.push_back(static_cast<double>(std::invoke(value_of, seed.summary)));
  return values;
}

// What rows of a table without a metric are compared by.
Result last_result(const Row& row) {
  if (row.summary().final_test_accuracy) {
    const auto accuracy = [](const Summary& summary) { return *summary.final_test_accuracy; };
    return {spread_of(of_seeds(row, accuracy)), true, Better::kMore};
  }
  const auto rmse = [](const Summary& summary) { return root_mean_squared_error(*summary.final_test_loss); };
  return {spread_of(of_seeds(row, rmse)), false, Better::kLess};
}

// Means over the runs of a row.
void add_costs(Row& row) {
  const auto mean_of = [&](const auto& value_of) { return mean(of_seeds(row, value_of)); };
  const auto mean_of_busy = [&](double Summary::*bytes) {
    std::vector<double> values = of_seeds(row, bytes);
    // Every cohort was empty, since a message has a head, if nothing else; or it is secret.
    const bool lacks = std::erase(values, 0.0) > 0;
    return values.empty() || (lacks && is_secret(DrawnSizes::kCohorts, row.privacy))
               ? std::nullopt
               : std::optional(mean(values));
  };
  row.uplink_bytes = mean_of_busy(&Summary::uplink_bytes_per_client_round);
  row.downlink_bytes = mean_of_busy(&Summary::downlink_bytes_per_client_round);
  if (!is_secret(DrawnSizes::kCohorts, row.privacy)) {
    row.total_uplink_bytes = mean_of(&Summary::uplink_bytes);
    row.total_downlink_bytes = mean_of(&Summary::downlink_bytes);
  }
  if (is_secret(DrawnSizes::kBatches, row.privacy)) return;
  row.seconds = mean_of(&Summary::seconds);
  row.examples = mean_of(&Summary::examples);
  row.gradients = mean_of([](const Summary& summary) { return summary.cost.gradients; });
  row.operations = mean_of([](const Summary& summary) { return summary.cost.operations; });
  row.operations_at_least =
      std::ranges::any_of(row.seeds, [](const SeedResult& seed) { return seed.summary.cost.at_least; });
}

void add_clients(Row& row) {
  for (const CatalogueEntry* column : client_columns()) {
    const auto value_of = [&](const Summary& summary) { return column->of_summary(summary); };
    if (std::ranges::all_of(row.seeds,
                            [&](const SeedResult& seed) { return value_of(seed.summary).has_value(); }))
      row.clients_tested[column] =
          spread_of(of_seeds(row, [&](const Summary& summary) { return *value_of(summary); }));
  }
}

// A file of attacks that cannot be read hides no row: a note names it.
void add_attacks(SeedResult& seed) {
  try {
    const std::optional<MembershipAttacks> attacks = read_attacks(seed.path);
    if (!attacks) return;
    for (const MembershipAttack& attack : attacks->attacks) seed.attacks[attack.score] = attack.separation;
    seed.attacked = attacked_text(*attacks);
  } catch (const Error& error) {
    seed.attacks_problem = problem_line(error);
  }
}

std::vector<std::string> attack_notes(const Table& table) {
  std::vector<std::string> notes;
  std::map<std::string, std::vector<std::string>> runs;
  for (const Row& row : table.rows) {
    for (const SeedResult& seed : row.seeds) {
      if (!seed.attacked.empty()) runs[seed.attacked].push_back(seed.path.string());
      if (!seed.attacks_problem.empty())
        notes.push_back(
            fmt::format("attacks on {} are not shown: {}", seed.path.string(), seed.attacks_problem));
    }
  }
  append_notes(notes, unlike_attacks_notes(runs));
  return notes;
}

// All seeds of a row have an audit, or none has.
void add_audit(Row& row) {
  if (!row.summary().audit) return;
  row.control = row.summary().audit->control;
  row.epsilon_at_least =
      spread_of(of_seeds(row, [](const Summary& summary) { return summary.audit->lower_bound; }));
}

Row make_row(const RowRuns& gathered) {
  check_row(gathered);
  Row row;
  static_cast<RowKey&>(row) = gathered.key;
  row.privacy = gathered.privacy();
  row.conditions = row_conditions(gathered.runs.front()->settings);
  row.tuning = gathered.summary().tuning;
  for (const FoundRun* run : gathered.runs) {
    row.seeds.push_back({.path = run->path, .summary = *run->summary});
    add_attacks(row.seeds.back());
    if (row.tuning != run->summary->tuning) row.tuning.reset();
  }
  add_clients(row);
  add_audit(row);
  add_costs(row);
  row.last = last_result(row);
  row.result = row.last;
  return row;
}

std::vector<Setting> settings_in(const Table& table) {
  std::vector<Setting> settings;
  for (const Row& row : table.rows) settings.push_back(row.setting);
  return settings;
}

}  // namespace

Table make_table(std::span<const FoundRun> runs, const std::optional<RoundMetric>& metric,
                 PlusMinus plus_minus) {
  Rows gathered = gather_rows(runs);
  const SettingNames namer(gathered);
  Table table;
  table.metric = metric;
  table.plus_minus = plus_minus;
  for (RowRuns& row : gathered.rows) {
    table.rows.push_back(make_row(row));
    row.name = namer.of(row.key);
  }
  append_notes(table.notes, row_notes(gathered.rows));
  append_notes(table.notes, privacy_notes(gathered.rows));
  append_notes(table.notes, attack_notes(table));
  if (metric) append_notes(table.notes, read_metric(*metric, table.rows, namer));
  if (plus_minus == PlusMinus::kHalfWidth) append_notes(table.notes, interval_notes(gathered.rows));
  append_notes(table.notes, mark_best(table.rows, namer));
  append_notes(table.notes,
               not_counted(gathered, [&](const FoundRun& run) { return namer.of(key_of(*run.summary)); }));
  return table;
}

bool varies(const Table& table, const SettingPart& part) { return part_varies(settings_in(table), part); }

std::vector<std::string> swept_keys(const Table& table) {
  std::vector<Sweep> sweeps;
  for (const Row& row : table.rows) sweeps.push_back(row.whole_sweep());
  return differing_keys(sweeps);
}

SettingNames setting_names(const Table& table) { return {settings_in(table), swept_keys(table)}; }

bool any_accuracy(const Table& table) {
  return std::ranges::any_of(table.rows, [](const Row& row) { return row.last.share; });
}

bool any_regression(const Table& table) {
  return std::ranges::any_of(table.rows, [](const Row& row) { return !row.last.share; });
}

bool claims_per_distance(const Table& table) {
  return std::ranges::any_of(table.rows,
                             [](const Row& row) { return row.privacy && row.privacy->per_distance; });
}

std::span<const ClaimTerm> claim_terms() {
  static constexpr std::array<ClaimTerm, 3> kTerms{
      {{"delta", [](const PrivacyClaim& claim) { return short_number(claim.settings.delta); }},
       {"unit", [](const PrivacyClaim& claim) { return claim.unit; }},
       {"adjacency", [](const PrivacyClaim& claim) { return claim.adjacency; }}}};
  return kTerms;
}

std::optional<std::string> shared_term(const Table& table, const ClaimTerm& term) {
  std::set<std::string> texts;
  for (const Row& row : table.rows) {
    if (row.privacy) texts.insert(term.text(*row.privacy));
  }
  return texts.size() == 1 ? std::optional(*texts.begin()) : std::nullopt;
}

std::string shared_terms(const Table& table) {
  std::string of;
  for (const ClaimTerm& term : claim_terms()) {
    const auto shared = shared_term(table, term);
    if (shared && !shared->empty())
      of += fmt::format("{}{} {}", of.empty() ? " (" : ", ", term.heading, *shared);
  }
  return of.empty() ? of : of + ")";
}

std::vector<std::string> nominal_names(const Table& table) {
  std::set<std::string> names;
  for (const Row& row : table.rows) {
    if (!row.privacy) continue;
    for (const auto& [what, value] : row.privacy->nominal) names.insert(what);
  }
  return {names.begin(), names.end()};
}

std::optional<double> nominal_of(const Row& row, const std::string& what) {
  if (!row.privacy) return std::nullopt;
  const auto* found = find_named(row.privacy->nominal, what, &std::pair<std::string, double>::first);
  return found == nullptr ? std::nullopt : std::optional(found->second);
}

std::optional<Spread> Row::clients(const CatalogueEntry* column) const {
  const auto found = clients_tested.find(column);
  return found == clients_tested.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::int64_t> Row::audits_contradicting() const {
  std::vector<std::int64_t> contradicting;
  for (const SeedResult& seed : seeds) {
    if (audit_contradicts(seed.summary)) contradicting.push_back(seed.seed());
  }
  return contradicting;
}

std::optional<Spread> Row::attacked(const std::string& score, const AttackMeasure& what) const {
  std::vector<double> values;
  for (const SeedResult& seed : seeds) {
    const auto found = seed.attacks.find(score);
    if (found == seed.attacks.end()) return std::nullopt;
    values.push_back(found->second.*what.of_attack);
  }
  return spread_of(values);
}

std::vector<std::string> attack_scores(const Table& table) {
  std::set<std::string> scores;
  for (const Row& row : table.rows) {
    for (const SeedResult& seed : row.seeds) {
      for (const auto& [score, unused] : seed.attacks) scores.insert(score);
    }
  }
  return {scores.begin(), scores.end()};
}

std::span<const CatalogueEntry* const> client_columns() {
  static const std::array kColumns = {
      find_entry("client-accuracy"), find_entry("worst-client"), find_entry("bmta"),
      find_entry("bmt-f1"),          find_entry("client-rmse"),  find_entry("worst-client-rmse")};
  return kColumns;
}

bool is_stopped_early(const Row& row) {
  return std::ranges::any_of(row.seeds, [](const SeedResult& seed) { return ended_early(seed.summary); });
}

std::string rounds_done(const Row& row) {
  const auto [least, most] = std::ranges::minmax_element(row.seeds, {}, &SeedResult::rounds_done);
  return range_text(least->rounds_done(), most->rounds_done());
}

}  // namespace fedarena::results
