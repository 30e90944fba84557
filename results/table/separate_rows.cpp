#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "results/record/sweep.hpp"
#include "results/table/rows.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// What a sweep could have given to a run, by paths as a sweep has them; its values have no quotes.
struct RunSettings {
  Summary* summary;
  Sweep parameters;  // of the algorithm
  Sweep conditions;  // others that runs of one row share
};

RunSettings run_settings(FoundRun& run) {
  RunSettings settings{.summary = &*run.summary, .parameters = {}, .conditions = {}};
  const std::string own = fmt::format("{}{}.", kAlgorithmPaths, run.summary->label);
  for (const auto& [name, value] : run.summary->algorithm_parameters)
    settings.parameters.emplace_back(own + name, unquoted(value));
  for (const auto& [path, value] : row_conditions(run.path)) {
    settings.conditions.emplace_back(
        path.starts_with(kAlgorithmPaths) ? own + path.substr(kAlgorithmPaths.size()) : path,
        unquoted(value));
  }
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

// Adds the paths in which these runs differ. Records from before there was a condition lack it.
void add_differing(const std::vector<RunSettings>& row, std::set<std::string>& paths) {
  for (const auto& [path, values] : count(row, &RunSettings::parameters)) {
    if (values.begin()->second != row.size()) paths.insert(path);
  }
  for (const auto& [path, values] : count(row, &RunSettings::conditions)) {
    if (values.size() > 1) paths.insert(path);
  }
}

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

void give(const RunSettings& run, const std::set<std::string>& paths) {
  Sweep& sweep = run.summary->sweep;
  for (const Sweep* settings : {&run.parameters, &run.conditions}) {
    for (const auto& [path, value] : *settings) {
      if (paths.contains(path) && !swept_value(sweep, path)) sweep.emplace_back(path, value);
    }
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

void separate_by_settings(std::vector<FoundRun>& runs) {
  separate_data(runs);
  std::map<RowKey, std::vector<RunSettings>, RowOrder> rows;
  for (FoundRun& run : runs) {
    if (run.summary) rows[key_of(*run.summary)].push_back(run_settings(run));
  }
  // By label, so that no row of a label has a dash where another has a value.
  std::map<std::string, std::set<std::string>> paths;
  for (const auto& [key, row] : rows) add_differing(row, paths[row.front().summary->label]);
  for (const auto& [key, row] : rows) {
    for (const RunSettings& run : row) give(run, paths[run.summary->label]);
  }
}

}  // namespace fedarena::results
