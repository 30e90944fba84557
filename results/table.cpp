#include "results/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "results/natural_order.hpp"
#include "results/number_format.hpp"
#include "results/partition_notes.hpp"
#include "results/privacy_notes.hpp"
#include "results/regression_error.hpp"
#include "results/statistics.hpp"
#include "results/stopping_notes.hpp"
#include "results/text.hpp"

namespace fedarena::results {
namespace {

Setting setting_of(const Summary& summary) {
  return {.experiment = summary.experiment,
          .dataset = summary.dataset,
          .partition = summary.partition,
          .model = summary.model,
          .sweep = shared_sweep(summary.sweep)};
}

// The identity of a row: its setting, then its label, in the order in which rows are printed. A sweep orders
// by its values, which as parts of a text would not be numbers.
struct RowKey {
  std::string experiment;
  Sweep shared;
  std::array<std::string, 4> names;  // data set, partition, model, label
  Sweep own;
};

RowKey key_of(const Summary& summary) {
  return {.experiment = summary.experiment,
          .shared = shared_sweep(summary.sweep),
          .names = {summary.dataset, summary.partition, summary.model, summary.label},
          .own = own_sweep(summary.sweep, summary.label)};
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

// Less than 0, 0 or greater, as people order texts.
int compare_texts(const std::string& left, const std::string& right) {
  return natural_less(left, right) ? -1 : natural_less(right, left) ? 1 : 0;
}

std::optional<double> as_number(const std::string& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || std::isnan(number)) return std::nullopt;
  return number;
}

int compare_values(const std::string& left, const std::string& right) {
  const std::optional<double> first = as_number(left), second = as_number(right);
  if (!first || !second || *first == *second) return compare_texts(left, right);
  return *first < *second ? -1 : 1;
}

int compare_sweeps(const Sweep& left, const Sweep& right) {
  for (std::size_t index = 0; index < std::min(left.size(), right.size()); ++index) {
    if (const int order = compare_texts(left[index].first, right[index].first)) return order;
    if (const int order = compare_values(left[index].second, right[index].second)) return order;
  }
  return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

struct KeyOrder {
  bool operator()(const RowKey& left, const RowKey& right) const {
    if (const int order = compare_texts(left.experiment, right.experiment)) return order < 0;
    if (const int order = compare_sweeps(left.shared, right.shared)) return order < 0;
    for (std::size_t index = 0; index < left.names.size(); ++index) {
      if (const int order = compare_texts(left.names[index], right.names[index])) return order < 0;
    }
    return compare_sweeps(left.own, right.own) < 0;
  }
};

std::string name_with(const std::string& label, const Sweep& own) {
  return own.empty() ? label : fmt::format("{}, {}", label, sweep_text(own));
}

std::string name_of(const Summary& summary) {
  return name_with(summary.label, own_sweep(summary.sweep, summary.label));
}

using Groups = std::map<RowKey, std::vector<const FoundRun*>, KeyOrder>;

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

// What the runs of a row must share, as text, so that a mean is never taken over different things.
std::vector<std::pair<std::string, std::string>> identity(const Summary& summary) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"algorithm", summary.algorithm},
      {"rounds", std::to_string(summary.rounds)},
      {"clients", std::to_string(summary.clients)},
      {"parameters", std::to_string(summary.parameters)},
      {"final_test_accuracy", summary.final_test_accuracy ? "a number" : "null"},
      {"policy", summary.policy},
      {"dataset_note", summary.dataset_note},
  };
  const PrivacyClaim claim = summary.privacy.value_or(PrivacyClaim{});
  facts.emplace_back("adjacency", claim.adjacency);
  facts.emplace_back("delta", exact_number(claim.settings.delta));
  facts.emplace_back("orders", claim.settings.orders);
  facts.emplace_back("conversion", claim.settings.conversion);
  facts.emplace_back("assume", claim.settings.assume);
  facts.emplace_back("as_if_epsilon_rdp", claim.as_if_rdp ? "an epsilon" : "null");
  facts.emplace_back("budget", exact_number(claim.budget));
  std::string settings;
  for (const auto& [name, value] : summary.algorithm_parameters) {
    settings += fmt::format("{}{} = {}", settings.empty() ? "" : ", ", name, value);
  }
  facts.emplace_back("algorithm_parameters", std::move(settings));
  return facts;
}

[[noreturn]] void reject_pair(const FoundRun& first, const FoundRun& second, const std::string& what) {
  throw Error(Complaint{.place = {},
                        .found = fmt::format("{} and {} {}", first.path.string(), second.path.string(), what),
                        .allowed = {},
                        .nearest = {},
                        .remedy = "name only one of them, or give their algorithm entries different labels"});
}

void check_same_row(const FoundRun& first, const FoundRun& second) {
  const auto left = identity(*first.summary);
  const auto right = identity(*second.summary);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i]) continue;
    reject_pair(first, second,
                fmt::format("belong to one row, \"{}\", but differ in {}: \"{}\" and \"{}\"",
                            first.summary->label, left[i].first, left[i].second, right[i].second));
  }
  if (first.summary->seed == second.summary->seed) {
    reject_pair(first, second,
                fmt::format("both hold seed {} of \"{}\"", first.summary->seed, first.summary->label));
  }
}

double mean_of(const std::vector<SeedResult>& seeds, double SeedResult::*member) {
  std::vector<double> values;
  for (const SeedResult& seed : seeds) values.push_back(seed.*member);
  return mean(values);
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
  std::vector<double> accuracies, errors;
  std::vector<SeedClients> clients;
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
                         .privacy = summary.privacy});
    if (summary.final_test_accuracy)
      accuracies.push_back(*summary.final_test_accuracy);
    else
      errors.push_back(root_mean_squared_error(*summary.final_test_loss));
    if (summary.per_client) clients.push_back({*summary.per_client, *summary.best_round});
    if (row.privacy) row.privacy = joint(*row.privacy, *summary.privacy);
  }
  if (clients.size() == runs.size()) row.clients_tested = client_columns(clients);
  if (!accuracies.empty()) {
    row.accuracy_mean = mean(accuracies);
    row.accuracy_std = sample_standard_deviation(accuracies);
  } else {
    row.rmse_mean = mean(errors);
    row.rmse_std = sample_standard_deviation(errors);
  }
  row.uplink_bytes = mean_of(row.seeds, &SeedResult::uplink_bytes);
  row.downlink_bytes = mean_of(row.seeds, &SeedResult::downlink_bytes);
  row.seconds = mean_of(row.seeds, &SeedResult::seconds);
  return row;
}

std::vector<std::int64_t> seeds_of(const Row& row) {
  std::vector<std::int64_t> seeds;
  for (const SeedResult& seed : row.seeds) seeds.push_back(seed.seed);
  return seeds;
}

// A row's result as it is printed, and whether `left` is the better one of two rows of a kind.
std::string printed(const Row& row) {
  return row.accuracy_mean ? percent(*row.accuracy_mean) : measured(*row.rmse_mean);
}

bool better(const Row& left, const Row& right) {
  if (left.accuracy_mean) return *left.accuracy_mean > *right.accuracy_mean;
  // What diverged to "not a number" is worse than everything.
  return *left.rmse_mean < *right.rmse_mean || (std::isnan(*right.rmse_mean) && !std::isnan(*left.rmse_mean));
}

// Marks the best of the rows of one setting, or returns the note that says why they cannot be compared. Rows
// that print the same result are all best.
std::string compare(std::span<Row> rows, const std::string& where) {
  if (rows.size() < 2) return {};
  const auto differs = [&](auto property) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return property(row) != property(rows.front()); });
  };
  if (differs([](const Row& row) { return row.seeds.size(); })) {
    std::string counts;
    for (const Row& row : rows) {
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", row_name(row), row.seeds.size());
    }
    return fmt::format("{}rows rest on different numbers of seeds ({}), so none is marked as the best", where,
                       counts);
  }
  if (differs([](const Row& row) { return row.accuracy_mean.has_value(); })) return {};
  const std::string top = printed(*std::min_element(rows.begin(), rows.end(), better));
  for (Row& row : rows) row.best = printed(row) == top;
  if (!differs(seeds_of)) return {};
  return fmt::format("{}rows rest on different seeds, so their comparison is not paired", where);
}

std::vector<std::string> comparison_notes(std::vector<Row>& rows, const Namer& namer) {
  std::vector<std::string> notes;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const Setting setting = begin->setting;
    const auto end =
        std::find_if(begin, rows.end(), [&](const Row& row) { return !(row.setting == setting); });
    std::string where = namer.name(setting);
    if (!where.empty()) where += ": ";
    std::string note = compare({begin, end}, where);
    if (!note.empty()) notes.push_back(std::move(note));
    begin = end;
  }
  return notes;
}

std::vector<std::string> dataset_notes(const Groups& finished) {
  std::set<std::pair<std::string, std::string>, decltype([](const auto& left, const auto& right) {
             if (left.first != right.first) return natural_less(left.first, right.first);
             return left.second < right.second;
           })>
      notes;
  for (const auto& [key, runs] : finished) {
    for (const FoundRun* run : runs) notes.emplace(run->summary->dataset, run->summary->dataset_note);
  }
  std::vector<std::string> lines;
  for (const auto& [dataset, note] : notes) {
    if (!note.empty()) lines.push_back(fmt::format("data set {}: {}", dataset, note));
  }
  return lines;
}

void sort_by_seed(std::vector<const FoundRun*>& runs) {
  std::sort(runs.begin(), runs.end(), [](const FoundRun* left, const FoundRun* right) {
    if (left->summary->seed != right->summary->seed) return left->summary->seed < right->summary->seed;
    return natural_less(left->path.generic_string(), right->path.generic_string());
  });
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    std::string& line = notes.emplace_back(one_line(note));
    while (line.ends_with('.')) line.pop_back();  // renderers end sentences as they need
  }
}

}  // namespace

Table make_table(std::span<const FoundRun> runs) {
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
  Table table;
  for (auto& [key, group] : finished) {
    sort_by_seed(group);
    table.rows.push_back(make_row(group));
  }
  append(table.notes, dataset_notes(finished));
  append(table.notes, partition_notes(runs));
  append(table.notes, stopping_notes(runs));
  append(table.notes,
         privacy_notes(table, [&](const Row& row) { return namer.name(row.setting, row_name(row)); }));
  append(table.notes, comparison_notes(table.rows, namer));
  for (auto& [key, group] : unfinished) {
    sort_by_seed(group);
    for (const FoundRun* run : group) {
      const Summary& summary = *run->summary;
      append(table.notes, {fmt::format("{}: seed {} is unfinished ({} of {} rounds) and not counted",
                                       namer.name(setting_of(summary), name_of(summary)), summary.seed,
                                       summary.rounds_done, summary.rounds)});
    }
  }
  append(table.notes, broken);
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

std::string row_name(const Row& row) { return name_with(row.label, row.own_sweep); }

std::string caption(const Table& table) {
  std::string text;
  if (table.rows.empty()) return text;
  const Row& first = table.rows.front();
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  };
  for (const SettingPart& part : kSettingParts) {
    if (varies(table, part)) continue;
    const auto whole = [&](const Row& row) { return row.setting.*part.member; };
    const auto rest = [&](const Row& row) {
      return without_swept(row.setting.*part.member, row.setting.sweep, part.section);
    };
    const auto shared = [&](const auto& text_of) {
      return std::all_of(table.rows.begin(), table.rows.end(),
                         [&](const Row& row) { return text_of(row) == text_of(first); });
    };
    if (shared(whole)) {
      add(part.name, whole(first));
    } else if (shared(rest)) {
      add(part.name, rest(first));
    }
  }
  const std::vector<std::string> columns = swept_keys(table);
  for (const auto& [path, value] : first.setting.sweep) {
    if (std::find(columns.begin(), columns.end(), path) == columns.end()) add(path, value);
  }
  if (!text.empty()) text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return one_line(text);
}

bool any_accuracy(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.accuracy_mean.has_value(); });
}

bool any_regression(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.rmse_mean.has_value(); });
}

bool any_clients_tested(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.clients_tested.has_value(); });
}

bool any_private(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.privacy.has_value(); });
}

std::string rounds_done(const Row& row) {
  const auto [least, most] = std::minmax_element(
      row.seeds.begin(), row.seeds.end(),
      [](const auto& left, const auto& right) { return left.rounds_done < right.rounds_done; });
  if (least->rounds_done == most->rounds_done) return std::to_string(most->rounds_done);
  return fmt::format("{}-{}", least->rounds_done, most->rounds_done);
}

std::string legend(const Table& table) {
  const std::string results = !any_regression(table) ? "Accuracy"
                              : !any_accuracy(table) ? "RMSE (root mean squared error)"
                                                     : "Accuracy and RMSE (root mean squared error)";
  std::string text = results + " after the last round: mean ± sample standard deviation over seeds. ";
  if (any_clients_tested(table)) {
    text +=
        "Clients: the mean over clients of the accuracy on each one's own test examples, and the least of "
        "any; "
        "BMTA and BMT-F1: the largest mean of accuracy and of macro F1 over all rounds, hence chosen on test "
        "examples. ";
  }
  if (any_private(table)) text += "Epsilon: upper bound, rounded up, the largest over seeds. ";
  return text + "Uplink and downlink: bytes per client and round. Seconds: per run.";
}

}  // namespace fedarena::results
