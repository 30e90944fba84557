#include "results/table/table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "results/record/test_metrics.hpp"
#include "results/statistics/statistics.hpp"
#include "results/table/best_rows.hpp"
#include "results/table/dataset_notes.hpp"
#include "results/table/divergence_notes.hpp"
#include "results/table/metric_rows.hpp"
#include "results/table/partition_notes.hpp"
#include "results/table/privacy_notes.hpp"
#include "results/table/row_key.hpp"
#include "results/table/stopping_notes.hpp"
#include "results/table/tuning_notes.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

Setting setting_of(const Summary& summary) {
  return {.experiment = summary.experiment,
          .dataset = summary.dataset,
          .partition = summary.partition,
          .model = summary.model,
          .sweep = shared_sweep(summary.sweep)};
}

// Whether a part differs where the sweep gives the same below its section.
class PartDifference {
 public:
  explicit PartDifference(const SettingPart& part) : part_(part) {}

  void add(const Setting& setting) {
    const std::string& value = setting.*part_.member;
    const std::string swept = swept_in(setting.sweep, part_.section);
    const auto [first, fresh] = seen_.emplace(swept, value);
    const bool unswept = seen_.contains("") && seen_.size() > 1;
    values_.insert(value);
    found_ = found_ || first->second != value || (unswept && values_.size() > 1);
  }
  bool found() const { return found_; }

 private:
  SettingPart part_;
  std::map<std::string, std::string> seen_;
  std::set<std::string> values_;
  bool found_ = false;
};

std::string name_of(const Summary& summary) {
  return row_name(summary.label, own_sweep(summary.sweep, summary.label));
}

using Groups = std::map<RowKey, std::vector<const FoundRun*>, RowOrder>;

// Names rows in notes: the label, and those parts of the setting in which the given runs differ.
class Namer {
 public:
  explicit Namer(std::span<const FoundRun> runs) {
    for (std::size_t i = 0; i < kSettingParts.size(); ++i) {
      PartDifference difference(kSettingParts[i]);
      for (const FoundRun& run : runs) {
        if (run.summary) difference.add(setting_of(*run.summary));
      }
      varies_[i] = difference.found();
    }
    std::set<Sweep> sweeps;
    for (const FoundRun& run : runs) {
      if (run.summary) sweeps.insert(shared_sweep(run.summary->sweep));
    }
    sweep_varies_ = sweeps.size() > 1;
  }

  // "data set digits, model mlp", or nothing when one setting is all there is.
  std::string name(const Setting& setting) const {
    std::string text;
    for (std::size_t i = 0; i < kSettingParts.size(); ++i) {
      if (!varies_[i]) continue;
      if (!text.empty()) text += ", ";
      text += fmt::format("{} {}", kSettingParts[i].name, setting.*kSettingParts[i].member);
    }
    if (sweep_varies_ && !setting.sweep.empty())
      text += (text.empty() ? "" : ", ") + sweep_text(setting.sweep);
    return text;
  }

  std::string name(const Setting& setting, const std::string& label) const {
    const std::string where = name(setting);
    return where.empty() ? label : fmt::format("{} ({})", label, where);
  }

 private:
  std::array<bool, kSettingParts.size()> varies_{};
  bool sweep_varies_ = false;
};

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
  row.total_uplink_bytes =
      *over_seeds([](const SeedResult& seed) { return std::optional(seed.uplink_bytes_of_run); });
  row.total_downlink_bytes =
      *over_seeds([](const SeedResult& seed) { return std::optional(seed.downlink_bytes_of_run); });
}

// The runs come sorted by seed, so that neither sums nor messages depend on the order in which they were
// given.
Row make_row(const std::vector<const FoundRun*>& runs) {
  const Summary& common = *runs.front()->summary;
  Row row;
  row.setting = setting_of(common);
  row.label = common.label;
  row.own_sweep = own_sweep(common.sweep, common.label);
  row.algorithm = common.algorithm;
  row.algorithm_parameters = common.algorithm_parameters;
  row.rounds = common.rounds;
  row.clients = common.clients;
  row.parameters = common.parameters;
  row.policy = common.policy;
  row.privacy = common.privacy;
  row.tuning = common.tuning;
  std::vector<double> accuracies, errors;
  std::vector<SeedClients> clients;
  std::vector<ClientErrors> client_errors;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) check_same_row(*runs[i - 1], *runs[i]);
    const Summary& summary = *runs[i]->summary;
    row.seeds.push_back({.seed = summary.seed,
                         .path = runs[i]->path,
                         .rounds_done = summary.rounds_done,
                         .accuracy = summary.final_test_accuracy,
                         .loss = *summary.final_test_loss,
                         .seconds = summary.seconds,
                         .uplink_bytes = summary.uplink_bytes_per_client_round,
                         .downlink_bytes = summary.downlink_bytes_per_client_round,
                         .uplink_bytes_of_run = summary.uplink_bytes,
                         .downlink_bytes_of_run = summary.downlink_bytes,
                         .privacy = summary.privacy,
                         .examples = summary.examples,
                         .cost = summary.cost});
    if (summary.final_test_accuracy)
      accuracies.push_back(*summary.final_test_accuracy);
    else
      errors.push_back(root_mean_squared_error(*summary.final_test_loss));
    if (summary.per_client) clients.push_back({*summary.per_client, *summary.best_round});
    if (summary.client_errors) client_errors.push_back(*summary.client_errors);
    if (row.tuning != summary.tuning) row.tuning.reset();
    if (row.privacy) row.privacy = joint(*row.privacy, *summary.privacy);
  }
  if (clients.size() == runs.size()) row.clients_tested = client_columns(clients);
  if (client_errors.size() == runs.size()) row.clients_tested = client_columns(client_errors);
  if (!accuracies.empty()) {
    const Spread spread = spread_of(accuracies);
    row.accuracy_mean = spread.mean;
    row.accuracy_std = spread.std;
    row.accuracy_half_width = spread.half_width;
  } else {
    const Spread spread = spread_of(errors);
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

// Which rows have one seed, and hence no interval.
std::vector<std::string> interval_notes(const std::vector<Row>& rows,
                                        const std::function<std::string(const Row&)>& name) {
  std::vector<std::string> single;
  for (const Row& row : rows) {
    if (row.seeds.size() == 1) single.push_back(name(row));
  }
  if (single.empty()) return {};
  if (single.size() == rows.size()) return {"one seed has no interval: every row shows its value alone"};
  return {fmt::format("one seed has no interval: {}", fmt::join(single, "; "))};
}

void sort_by_seed(std::vector<const FoundRun*>& runs) {
  std::sort(runs.begin(), runs.end(), [](const FoundRun* left, const FoundRun* right) {
    if (left->summary->seed != right->summary->seed) return left->summary->seed < right->summary->seed;
    return natural_less(left->path.generic_string(), right->path.generic_string());
  });
}

}  // namespace

Table make_table(std::span<const FoundRun> runs, const std::optional<RoundMetric>& metric,
                 PlusMinus plus_minus) {
  Groups finished;
  Groups unfinished;
  std::vector<std::string> broken;
  for (const FoundRun& run : runs) {
    if (run.summary) {
      (run.summary->state == kFinished ? finished : unfinished)[key_of(*run.summary)].push_back(&run);
    } else {
      broken.push_back(fmt::format("{}: {}; not counted", run.path.string(), run.problem));
    }
  }
  std::sort(broken.begin(), broken.end(), natural_less);

  const Namer namer(runs);
  const auto name = [&](const Row& row) { return namer.name(row.setting, row_name(row)); };
  Table table;
  table.metric = metric;
  table.plus_minus = plus_minus;
  for (auto& [key, group] : finished) {
    sort_by_seed(group);
    table.rows.push_back(make_row(group));
  }
  const auto name_of_run = [&](const FoundRun& run) {
    return namer.name(setting_of(*run.summary), name_of(*run.summary));
  };
  append_notes(table.notes, divergence_notes(runs, name_of_run));
  append_notes(table.notes, dataset_notes(runs));
  append_notes(table.notes, partition_notes(runs));
  append_notes(table.notes, stopping_notes(runs));
  append_notes(table.notes, tuning_notes(runs, name_of_run));
  append_notes(table.notes, privacy_notes(table, name));
  if (metric) append_notes(table.notes, read_metric(*metric, table.rows, name));
  if (plus_minus == PlusMinus::kHalfWidth) append_notes(table.notes, interval_notes(table.rows, name));
  append_notes(table.notes,
               mark_best(table.rows, [&](const Setting& setting) { return namer.name(setting); }));
  for (auto& [key, group] : unfinished) {
    sort_by_seed(group);
    for (const FoundRun* run : group) {
      const Summary& summary = *run->summary;
      append_notes(table.notes, {fmt::format("{}: seed {} is unfinished ({} of {} rounds) and not counted",
                                             namer.name(setting_of(summary), name_of(summary)), summary.seed,
                                             summary.rounds_done, summary.rounds)});
    }
  }
  append_notes(table.notes, broken);
  return table;
}

bool varies(const Table& table, const SettingPart& part) {
  PartDifference difference(part);
  for (const Row& row : table.rows) difference.add(row.setting);
  return difference.found();
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

std::string row_name(const Row& row) { return row_name(row.label, row.own_sweep); }

bool any_accuracy(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.accuracy_mean.has_value(); });
}

bool any_regression(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.rmse_mean.has_value(); });
}

std::optional<Spread> client_spread(const Row& row, const ClientColumn& what) {
  return row.clients_tested ? *row.clients_tested.*what.member : std::nullopt;
}

bool any_clients_tested(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.clients_tested.has_value(); });
}

std::vector<ClientColumn> client_columns_of(const Table& table) {
  std::vector<ClientColumn> columns;
  for (const ClientColumn& what : kClientColumns) {
    if (what.share ? any_accuracy(table) : any_regression(table)) columns.push_back(what);
  }
  return columns;
}

bool any_private(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.privacy.has_value(); });
}

bool any_published(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.published.has_value(); });
}

std::string rounds_done(const Row& row) {
  const auto [least, most] = std::minmax_element(
      row.seeds.begin(), row.seeds.end(),
      [](const auto& left, const auto& right) { return left.rounds_done < right.rounds_done; });
  if (least->rounds_done == most->rounds_done) return std::to_string(most->rounds_done);
  return fmt::format("{}-{}", least->rounds_done, most->rounds_done);
}

}  // namespace fedarena::results
