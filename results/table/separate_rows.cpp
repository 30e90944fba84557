#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/run_setup.hpp"
#include "results/record/sweep.hpp"
#include "results/table/rows.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

std::string own_path(const Summary& summary, std::string_view name) {
  return fmt::format("{}{}.{}", kAlgorithmPaths, summary.label, name);
}

std::string key_of_parameter(const std::string& name) { return std::string(kAlgorithmPaths) + name; }

// Where the file of a run has what a grid gives to all algorithms under that path.
std::string key_in_file(const std::string& path) {
  const bool is_theirs = path.starts_with(kTrainingPaths) || path.starts_with("privacy.");
  return is_theirs ? key_of_parameter(parameter_of(path)) : path;
}

// What a sweep could have given to a run, by paths as a sweep has them.
struct RunSettings {
  Summary* summary;
  Sweep parameters;  // of the algorithm, by their names alone
  Sweep conditions;  // others that runs of one row share
};

RunSettings run_settings(FoundRun& run) {
  RunSettings settings{&*run.summary, {}, {{kRoundsPath, std::to_string(run.summary->rounds)}}};
  for (const auto& [name, value] : run.summary->algorithm_parameters)
    settings.parameters.emplace_back(name, plain_value(value));
  for (const auto& [path, value] : row_conditions(run.settings))
    settings.conditions.emplace_back(path, plain_value(value));
  return settings;
}

using Counts = std::map<std::string, std::map<std::string, std::size_t>>;  // of runs, by path and value

Counts count(const std::vector<RunSettings>& row, Sweep RunSettings::*member) {
  Counts counts;
  for (const RunSettings& run : row) {
    for (const auto& [path, value] : run.*member) ++counts[path][value];
  }
  return counts;
}

// The keys that a grid or a search gives to any of these runs of one label, as their files have them, and the
// key of the noise that was found for an epsilon of a grid.
std::set<std::string> varied_keys(const std::vector<RunSettings>& runs) {
  std::set<std::string> keys;
  for (const RunSettings& run : runs) {
    Sweep given = run.summary->sweep;
    if (run.summary->tuning) std::ranges::copy(run.summary->tuning->chosen, std::back_inserter(given));
    for (const auto& [path, value] : shared_sweep(given)) keys.insert(key_in_file(path));
    for (const auto& [name, value] : own_sweep(given, run.summary->label))
      keys.insert(key_of_parameter(name));
  }
  if (keys.contains("algorithms.privacy.noise_for_epsilon"))
    keys.insert("algorithms.privacy.noise_multiplier");
  return keys;
}

// What runs say, all of them, so that no row has a dash where it has a value that another one shows.
struct Told {
  std::set<std::string> parameters, conditions;

  // Adds in what these runs differ, but for these keys. Records from before there was a condition lack it.
  void add_differing(const std::vector<RunSettings>& runs, const std::set<std::string>& but = {}) {
    for (const auto& [name, values] : count(runs, &RunSettings::parameters)) {
      const bool all_same = values.begin()->second == runs.size();
      if (!all_same && !but.contains(key_of_parameter(name))) parameters.insert(name);
    }
    for (const auto& [path, values] : count(runs, &RunSettings::conditions)) {
      if (values.size() > 1 && !but.contains(path)) conditions.insert(path);
    }
  }
};

// Runs on data of one name that were not the same say which they had.
void separate_data(std::vector<FoundRun>& runs) {
  std::map<std::string, std::set<std::string>> hashes;
  for (const FoundRun& run : runs) {
    if (run.summary) hashes[run.summary->dataset].insert(run.summary->data_hash);
  }
  for (FoundRun& run : runs) {
    if (!run.summary || hashes[run.summary->dataset].size() == 1) continue;
    run.summary->sweep.emplace_back(kDataHashPath, short_hash(run.summary->data_hash));
    std::ranges::sort(run.summary->sweep);
  }
}

// Initial weights that a grid gives by their file are known by their digest.
void tell_weights(Summary& summary) {
  const auto hash = swept_value(settings_of_choice(summary.model), "weights_sha256");
  if (!hash || !swept_value(summary.sweep, "model.weights")) return;
  summary.sweep.emplace_back("model.weights_sha256", unquoted(*hash));
  std::ranges::sort(summary.sweep);
}

// By path, the experiments that sweep it, and their labels that it makes a difference for.
using SweptPaths = std::map<std::string, std::map<std::string, std::set<std::string>>>;

// A run's value at a path of another one's sweep; empty where it has none.
std::string value_at(const FoundRun& run, const std::string& path) {
  // Of a partition by user the file may say 0, which is all.
  if (path == "partition.clients") return std::to_string(run.summary->clients);
  const std::string own = own_path(*run.summary, "");
  return run.settings.of(path.starts_with(own) ? key_of_parameter(path.substr(own.size()))
                                               : key_in_file(path));
}

Sweep filled_sweep(const FoundRun& run, const SweptPaths& swept) {
  Sweep sweep = run.summary->sweep;
  for (const auto& [path, experiments] : swept) {
    const auto own = experiments.find(run.summary->experiment);
    const bool concerns = own == experiments.end() || own->second.contains(run.summary->label);
    if (!concerns || is_choice(path) || swept_value(sweep, path)) continue;
    if (const std::string value = value_at(run, path); !value.empty())
      sweep.emplace_back(path, plain_value(value));
  }
  std::ranges::sort(sweep);
  return sweep;
}

// A run whose sweep was filled in, and what it was before.
struct FilledRun {
  FoundRun* run;
  Sweep before;
};

// Whether runs that have a value and those that were given it can be one row.
bool fit_together(const std::vector<FilledRun>& row) {
  const auto was_other = [&](const FilledRun& filled) { return filled.before != row.front().before; };
  if (std::ranges::none_of(row, was_other)) return true;
  std::vector<const FoundRun*> runs;
  for (const FilledRun& filled : row) runs.push_back(filled.run);
  try {
    std::ranges::for_each(gather_rows(std::move(runs)).rows, check_row);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Takes away what only some of them had before.
void take_back(std::vector<FilledRun>& row) {
  std::map<std::string, std::size_t> had;
  for (const FilledRun& filled : row) {
    for (const auto& [path, value] : filled.before) ++had[path];
  }
  for (FilledRun& filled : row) {
    std::erase_if(filled.run->summary->sweep, [&](const auto& entry) {
      return had.contains(entry.first) && !swept_value(filled.before, entry.first);
    });
  }
}

// But for what stands under these keys of its file.
void give(const RunSettings& run, const Told& told, const std::set<std::string>& but = {}) {
  Sweep& sweep = run.summary->sweep;
  const auto add = [&](const std::string& path, const std::string& value) {
    if (!swept_value(sweep, path)) sweep.emplace_back(path, value);
  };
  for (const auto& [name, value] : run.parameters) {
    const bool is_swept = swept_value(sweep, fmt::format("training.{}", name)).has_value();
    if (told.parameters.contains(name) && !is_swept && !but.contains(key_of_parameter(name)))
      add(own_path(*run.summary, name), value);
  }
  for (const auto& [path, value] : run.conditions) {
    const bool own = path.starts_with(kAlgorithmPaths);
    const std::string rest = own ? path.substr(kAlgorithmPaths.size()) : path;
    if (told.conditions.contains(path) && !but.contains(path) && !(own && swept_value(sweep, rest)))
      add(own ? own_path(*run.summary, rest) : path, value);
  }
  std::ranges::sort(sweep);
}

}  // namespace

void keep_labels(std::vector<FoundRun>& runs, const Labels& labels) {
  std::set<std::string> known;
  for (const FoundRun& run : runs) {
    if (run.summary && run.summary->state == kFinished) known.insert(run.summary->label);
  }
  check_labels(labels, known);
  std::erase_if(runs, [&](const FoundRun& run) { return run.summary && !wants(labels, run.summary->label); });
  if (labels.empty()) return;
  for (FoundRun& run : runs) {
    if (!run.summary) continue;
    const auto named = std::ranges::find(labels, run.summary->label);
    run.place = static_cast<std::size_t>(named - labels.begin()) + 1;
  }
}

void fill_in_swept(std::span<FoundRun> runs) {
  SweptPaths swept;
  for (const FoundRun& run : runs) {
    if (!run.summary) continue;
    for (const auto& [path, value] : run.summary->sweep)
      swept[path][run.summary->experiment].insert(run.summary->label);
  }
  std::map<RowKey, std::vector<FilledRun>, RowOrder> rows;
  for (FoundRun& run : runs) {
    if (!run.summary) continue;
    Sweep before = std::exchange(run.summary->sweep, filled_sweep(run, swept));
    rows[key_of(*run.summary)].push_back({&run, std::move(before)});
  }
  for (auto& [key, row] : rows) {
    if (!fit_together(row)) take_back(row);
  }
  for (FoundRun& run : runs) {
    if (run.summary) tell_weights(*run.summary);
  }
}

void separate_by_settings(std::vector<FoundRun>& runs) {
  separate_data(runs);
  // By experiment and label: several commands may have filled a grid, with other settings at each point.
  std::map<std::pair<std::string, std::string>, std::vector<RunSettings>> labels;
  for (FoundRun& run : runs) {
    if (run.summary) labels[{run.summary->experiment, run.summary->label}].push_back(run_settings(run));
  }
  Told told;
  for (const auto& [label, group] : labels) told.add_differing(group, varied_keys(group));
  for (const auto& [label, group] : labels) {
    const std::set<std::string> varied = varied_keys(group);
    for (const RunSettings& run : group) give(run, told, varied);
  }
  fill_in_swept(runs);
  std::map<RowKey, std::vector<RunSettings>, RowOrder> rows;
  for (auto& [label, group] : labels) {
    for (RunSettings& run : group) rows[key_of(*run.summary)].push_back(std::move(run));
  }
  for (const auto& [key, row] : rows) told.add_differing(row);
  for (const auto& [key, row] : rows) {
    for (const RunSettings& run : row) give(run, told);
  }
}

std::vector<FoundRun> find_table_runs(std::span<const std::filesystem::path> paths, const Labels& labels) {
  std::vector<FoundRun> runs = find_runs(paths);
  separate_by_settings(runs);
  set_aside_unreadable_rounds(runs);
  keep_labels(runs, labels);
  return runs;
}

}  // namespace fedarena::results
