#include "results/table/table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "results/record/test_metrics.hpp"
#include "results/statistics/statistics.hpp"
#include "results/table/notes.hpp"
#include "results/table/privacy_notes.hpp"
#include "results/table/row_results.hpp"
#include "results/table/rows.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

double mean_of(const std::vector<SeedResult>& seeds, double SeedResult::*member) {
  std::vector<double> values;
  for (const SeedResult& seed : seeds) values.push_back(seed.*member);
  return mean(values);
}

// What rows of a table without a metric are compared by.
Result last_result(const Row& row) {
  if (row.accuracy_mean)
    return {{*row.accuracy_mean, row.accuracy_std, row.accuracy_half_width}, true, Better::kMore};
  return {{*row.rmse_mean, row.rmse_std, row.rmse_half_width}, false, Better::kLess};
}

// Means of what all runs of a row recorded.
void add_costs(Row& row) {
  const auto over_seeds = [&](const auto& value_of) -> std::optional<double> {
    std::vector<double> values;
    for (const SeedResult& seed : row.seeds) {
      const std::optional<std::int64_t> value = value_of(seed);
      if (!value) return std::nullopt;
      values.push_back(static_cast<double>(*value));
    }
    return mean(values);
  };
  const auto of_cost = [&](std::int64_t Cost::*member) {
    return over_seeds([member](const SeedResult& seed) {
      return seed.cost ? std::optional(*seed.cost.*member) : std::nullopt;
    });
  };
  row.examples = over_seeds([](const SeedResult& seed) { return seed.examples; });
  row.gradients = of_cost(&Cost::gradients);
  row.operations = of_cost(&Cost::operations);
  row.operations_at_least = row.operations && std::ranges::any_of(row.seeds, [](const SeedResult& seed) {
                              return seed.cost->at_least;
                            });
  row.total_uplink_bytes = over_seeds([](const SeedResult& seed) { return seed.uplink_bytes_of_run; });
  row.total_downlink_bytes = over_seeds([](const SeedResult& seed) { return seed.downlink_bytes_of_run; });
}

template <typename Seeds, typename Value>
Spread spread_over(const Seeds& seeds, const Value& value_of) {
  std::vector<double> values;
  for (const auto& seed : seeds) values.push_back(value_of(seed));
  return spread_of(values);
}

ClientColumns columns_of(const std::vector<const Summary*>& seeds) {
  using Seed = const Summary*;
  ClientColumns columns;
  if (std::ranges::all_of(seeds, [](Seed seed) { return seed->per_client.has_value(); })) {
    columns.accuracy = spread_over(seeds, [](Seed seed) { return seed->per_client->accuracy_mean; });
    columns.worst = spread_over(seeds, [](Seed seed) { return seed->per_client->accuracy_worst; });
    columns.best_accuracy = spread_over(seeds, [](Seed seed) { return seed->best_round->accuracy_mean; });
    columns.best_macro_f1 = spread_over(seeds, [](Seed seed) { return seed->best_round->macro_f1_mean; });
  }
  if (std::ranges::all_of(seeds, [](Seed seed) { return seed->client_errors.has_value(); })) {
    columns.rmse = spread_over(seeds, [](Seed seed) { return seed->client_errors->rmse_mean; });
    columns.worst_rmse = spread_over(seeds, [](Seed seed) { return seed->client_errors->rmse_worst; });
  }
  return columns;
}

SeedResult seed_of(const FoundRun& run) {
  const Summary& summary = *run.summary;
  const bool secret_batches = draws_are_secret(summary.privacy);
  const bool secret_cohorts = secret_batches && summary.privacy->unit == name(Unit::kClient);
  const auto total = [&](std::int64_t bytes) { return secret_cohorts ? std::nullopt : std::optional(bytes); };
  return {.seed = summary.seed,
          .path = run.path,
          .rounds_done = summary.rounds_done,
          .accuracy = summary.final_test_accuracy,
          .loss = *summary.final_test_loss,
          .seconds = summary.seconds,
          .uplink_bytes = summary.uplink_bytes_per_client_round,
          .downlink_bytes = summary.downlink_bytes_per_client_round,
          .uplink_bytes_of_run = total(summary.uplink_bytes),
          .downlink_bytes_of_run = total(summary.downlink_bytes),
          .privacy = summary.privacy,
          .examples = secret_batches ? std::nullopt : summary.examples,
          .cost = secret_batches ? std::nullopt : summary.cost};
}

Row make_row(const RowRuns& gathered) {
  check_row(gathered);
  const Summary& common = gathered.summary();
  Row row;
  static_cast<RowKey&>(row) = gathered.key;
  row.algorithm = common.algorithm;
  row.algorithm_parameters = common.algorithm_parameters;
  row.rounds = common.rounds;
  row.clients = common.clients;
  row.parameters = common.parameters;
  row.policy = common.policy;
  row.privacy = gathered.privacy();
  row.tuning = common.tuning;
  if (common.audit) {  // which all seeds then have
    row.control = common.audit->control;
    row.epsilon_at_least =
        spread_over(gathered.runs, [](const FoundRun* run) { return run->summary->audit->lower_bound; });
  }
  std::vector<const Summary*> summaries;
  for (const FoundRun* run : gathered.runs) {
    row.seeds.push_back(seed_of(*run));
    summaries.push_back(&*run->summary);
    if (row.tuning != run->summary->tuning) row.tuning.reset();
  }
  const ClientColumns clients = columns_of(summaries);
  if (clients.accuracy || clients.rmse) row.clients_tested = clients;
  if (common.final_test_accuracy) {
    const Spread spread = spread_over(row.seeds, [](const SeedResult& seed) { return *seed.accuracy; });
    row.accuracy_mean = spread.mean;
    row.accuracy_std = spread.std;
    row.accuracy_half_width = spread.half_width;
  } else {
    const Spread spread =
        spread_over(row.seeds, [](const SeedResult& seed) { return root_mean_squared_error(seed.loss); });
    row.rmse_mean = spread.mean;
    row.rmse_std = spread.std;
    row.rmse_half_width = spread.half_width;
  }
  row.uplink_bytes = mean_of(row.seeds, &SeedResult::uplink_bytes);
  row.downlink_bytes = mean_of(row.seeds, &SeedResult::downlink_bytes);
  row.seconds = mean_of(row.seeds, &SeedResult::seconds);
  add_costs(row);
  row.result = last_result(row);
  return row;
}

// Unfinished and broken runs.
std::vector<std::string> not_counted(const Rows& gathered, const SettingNames& namer) {
  std::vector<std::string> notes;
  for (const FoundRun* run : gathered.unfinished) {
    const Summary& summary = *run->summary;
    notes.push_back(fmt::format("{}: seed {} is unfinished ({} of {} rounds) and not counted",
                                namer.of(key_of(summary)), summary.seed, summary.rounds_done,
                                summary.rounds));
  }
  const auto broken = static_cast<std::ptrdiff_t>(notes.size());
  for (const FoundRun* run : gathered.broken) notes.push_back(broken_note(*run));
  std::sort(notes.begin() + broken, notes.end(), natural_less);
  return notes;
}

template <typename Value>
bool any_has(const Table& table, std::optional<Value> Row::*member) {
  return std::ranges::any_of(table.rows, [&](const Row& row) { return (row.*member).has_value(); });
}

}  // namespace

Table make_table(std::span<const FoundRun> runs, const std::optional<RoundMetric>& metric,
                 PlusMinus plus_minus) {
  const Rows gathered = gather_rows(runs);
  const SettingNames namer(gathered);
  Table table;
  table.metric = metric;
  table.plus_minus = plus_minus;
  std::vector<std::string> names;
  for (const RowRuns& row : gathered.rows) {
    table.rows.push_back(make_row(row));
    names.push_back(namer.of(row.key));
  }
  append_notes(table.notes, row_notes(gathered.rows, names));
  append_notes(table.notes, privacy_notes(gathered.rows, names));
  if (metric) append_notes(table.notes, read_metric(*metric, table.rows, names));
  if (plus_minus == PlusMinus::kHalfWidth) append_notes(table.notes, interval_notes(gathered.rows, names));
  append_notes(table.notes, mark_best(table.rows, namer));
  append_notes(table.notes, not_counted(gathered, namer));
  return table;
}

bool varies(const Table& table, const SettingPart& part) {
  std::vector<Setting> settings;
  for (const Row& row : table.rows) settings.push_back(row.setting);
  return part_varies(settings, part);
}

std::vector<std::string> swept_keys(const Table& table) {
  std::vector<std::string> keys;
  for (const Row& row : table.rows) {
    for (const Sweep* sweep : {&row.setting.sweep, &row.own_sweep}) {
      for (const auto& [key, value] : *sweep) keys.push_back(key);
    }
  }
  std::sort(keys.begin(), keys.end(), natural_less);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::erase_if(keys, [&](const std::string& key) {
    return std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
      return swept_value(row, key) == swept_value(table.rows.front(), key);
    });
  });
  return keys;
}

std::optional<std::string> swept_value(const Row& row, const std::string& key) {
  for (const Sweep* sweep : {&row.setting.sweep, &row.own_sweep}) {
    for (const auto& [path, value] : *sweep) {
      if (path == key) return value;
    }
  }
  return std::nullopt;
}

bool any_accuracy(const Table& table) { return any_has(table, &Row::accuracy_mean); }

bool any_regression(const Table& table) { return any_has(table, &Row::rmse_mean); }

bool any_clients_tested(const Table& table) { return any_has(table, &Row::clients_tested); }

bool any_private(const Table& table) { return any_has(table, &Row::privacy); }

bool any_audited(const Table& table) { return any_has(table, &Row::epsilon_at_least); }

bool any_published(const Table& table) { return any_has(table, &Row::published); }

std::optional<Spread> client_spread(const Row& row, const ClientColumn& what) {
  return row.clients_tested ? *row.clients_tested.*what.member : std::nullopt;
}

std::vector<ClientColumn> client_columns_of(const Table& table) {
  std::vector<ClientColumn> columns;
  for (const ClientColumn& what : kClientColumns) {
    if (what.share ? any_accuracy(table) : any_regression(table)) columns.push_back(what);
  }
  return columns;
}

std::string rounds_done(const Row& row) {
  const auto [least, most] = std::minmax_element(
      row.seeds.begin(), row.seeds.end(),
      [](const auto& left, const auto& right) { return left.rounds_done < right.rounds_done; });
  return range_text(least->rounds_done, most->rounds_done);
}

}  // namespace fedarena::results
