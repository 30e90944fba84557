#include <algorithm>
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

// As a sweep writes it: 1 for 1.0, and no quotes.
std::string plain(const std::string& text) {
  const auto number = parse_number<double>(text);
  return number ? fmt::format("{}", *number) : unquoted(text);
}

std::string own_path(const Summary& summary, std::string_view name) {
  return fmt::format("{}{}.{}", kAlgorithmPaths, summary.label, name);
}

// What a sweep could have given to a run, by paths as a sweep has them.
struct RunSettings {
  Summary* summary;
  Sweep parameters;  // of the algorithm, by their names alone
  Sweep conditions;  // others that runs of one row share
};

RunSettings run_settings(FoundRun& run) {
  RunSettings settings{&*run.summary, {}, {}};
  for (const auto& [name, value] : run.summary->algorithm_parameters)
    settings.parameters.emplace_back(name, plain(value));
  for (const auto& [path, value] : row_conditions(run.path))
    settings.conditions.emplace_back(path, plain(value));
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

// What runs say, all of them, so that no row has a dash where it has a value that another one shows.
struct Told {
  std::set<std::string> parameters, conditions;

  // Adds in what these runs of one row differ. Records from before there was a condition lack it.
  void add_differing(const std::vector<RunSettings>& row) {
    for (const auto& [name, values] : count(row, &RunSettings::parameters)) {
      if (values.begin()->second != row.size()) parameters.insert(name);
    }
    for (const auto& [path, values] : count(row, &RunSettings::conditions)) {
      if (values.size() > 1) conditions.insert(path);
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

// By path, the experiments that sweep it, and their labels that it makes a difference for.
using SweptPaths = std::map<std::string, std::map<std::string, std::set<std::string>>>;

// A run's value at a path of another one's sweep; empty where it has none.
std::string value_at(const FoundRun& run, const ResolvedSettings& file, std::string_view path) {
  // Of a partition by user the file may say 0, which is all.
  if (path == "partition.clients") return std::to_string(run.summary->clients);
  const std::string own = own_path(*run.summary, "");
  for (const auto& [begin, section] : {std::pair<std::string_view, const char*>("training.", "algorithms."),
                                       {"privacy.", "algorithms.privacy."},
                                       {own, "algorithms."}}) {
    if (path.starts_with(begin)) return file.of(section + std::string(path.substr(begin.size())));
  }
  return file.of(std::string(path));
}

Sweep filled_sweep(const FoundRun& run, const SweptPaths& swept) {
  Sweep sweep = run.summary->sweep;
  std::optional<ResolvedSettings> file;
  for (const auto& [path, experiments] : swept) {
    const auto own = experiments.find(run.summary->experiment);
    const bool concerns = own == experiments.end() || own->second.contains(run.summary->label);
    if (!concerns || is_choice(path) || swept_value(sweep, path)) continue;
    if (!file) file = settings_of_run(run.path);
    if (const std::string value = value_at(run, *file, path); !value.empty())
      sweep.emplace_back(path, plain(value));
  }
  std::ranges::sort(sweep);
  return sweep;
}

// A run whose sweep was filled in, and what it was before.
struct FilledRun {
  FoundRun* run;
  Sweep before;

  bool is_filled() const { return before != run->summary->sweep; }
};

// Whether runs that have a value and those that were given it can be one row.
bool fit_together(const std::vector<FilledRun>& row) {
  if (std::ranges::none_of(row, &FilledRun::is_filled) || std::ranges::all_of(row, &FilledRun::is_filled))
    return true;
  std::vector<const FoundRun*> runs;
  for (const FilledRun& filled : row) runs.push_back(filled.run);
  try {
    std::ranges::for_each(gather_rows(std::move(runs)).rows, check_row);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void give(const RunSettings& run, const Told& told) {
  Sweep& sweep = run.summary->sweep;
  const auto add = [&](const std::string& path, const std::string& value) {
    if (!swept_value(sweep, path)) sweep.emplace_back(path, value);
  };
  for (const auto& [name, value] : run.parameters) {
    const bool is_swept = swept_value(sweep, fmt::format("training.{}", name)).has_value();
    if (told.parameters.contains(name) && !is_swept) add(own_path(*run.summary, name), value);
  }
  for (const auto& [path, value] : run.conditions) {
    const bool own = path.starts_with(kAlgorithmPaths);
    const std::string rest = own ? path.substr(kAlgorithmPaths.size()) : path;
    if (told.conditions.contains(path) && !(own && swept_value(sweep, rest)))
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
    if (fit_together(row)) continue;
    for (FilledRun& filled : row) filled.run->summary->sweep = std::move(filled.before);
  }
}

void separate_by_settings(std::vector<FoundRun>& runs) {
  separate_data(runs);
  fill_in_swept(runs);
  std::map<RowKey, std::vector<RunSettings>, RowOrder> rows;
  Told told;
  for (FoundRun& run : runs) {
    if (run.summary) rows[key_of(*run.summary)].push_back(run_settings(run));
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
