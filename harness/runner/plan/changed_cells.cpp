#include "harness/runner/plan/changed_cells.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

#include "harness/runner/plan/experiment_data.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_setup.hpp"
#include "results/record/sweep.hpp"
#include "results/table/notes.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostChanges = 5;
constexpr std::size_t kMostCells = 3;

// "experiment.rounds was 3, now 4", and the cells that it concerns.
using Changes = std::map<std::string, std::vector<std::string>>;

// An algorithm's own keys of privacy that changed as the shared ones did, from which it has them.
std::set<std::string> repeated_changes(const std::map<std::string, std::string>& had,
                                       const std::map<std::string, std::string>& has) {
  const auto of = [](const auto& settings, const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
  };
  std::set<std::string> repeated;
  for (const auto* settings : {&had, &has}) {
    for (const auto& [key, value] : *settings) {
      if (!key.starts_with("algorithms.privacy.")) continue;
      const std::string shared = key.substr(results::kAlgorithmPaths.size());
      if (of(had, key) == of(had, shared) && of(has, key) == of(has, shared)) repeated.insert(key);
    }
  }
  return repeated;
}

// Whether the file says it of one algorithm or in [training], of all.
std::string name_of(std::string key) {
  constexpr std::string_view kOwn = results::kAlgorithmPaths;
  return key.starts_with(kOwn) ? key.replace(0, kOwn.size(), "the algorithm's ") : key;
}

void add_changes(Changes& changes, const std::string& before, const std::string& now,
                 const std::string& cell) {
  const auto had = results::resolved_settings(before).texts;
  const auto has = results::resolved_settings(now).texts;
  const std::set<std::string> repeated = repeated_changes(had, has);
  for (const auto& [key, value] : had) {
    if (repeated.contains(key)) continue;
    const auto found = has.find(key);
    if (found == has.end()) {
      changes[fmt::format("{} was {}, now it is gone", name_of(key), value)].push_back(cell);
    } else if (found->second != value) {
      changes[fmt::format("{} was {}, now {}", name_of(key), value, found->second)].push_back(cell);
    }
  }
  for (const auto& [key, value] : has) {
    if (!had.contains(key) && !repeated.contains(key))
      changes[fmt::format("{} is new: {}", name_of(key), value)].push_back(cell);
  }
  if (had == has) changes["its text differs"].push_back(cell);
}

void add_tuning_change(Changes& changes, const results::Summary& before, const PlannedCell& now) {
  const std::string was = results::search_text(before.tuning);
  const std::string is = results::search_text(now.tuning);
  if (was != is) changes[fmt::format("tuning was {}, now {}", was, is)].push_back(now.folder().string());
}

// What is still to be found is left out.
std::string without(const std::set<std::string>& unknown, const std::string& toml) {
  std::istringstream lines(toml);
  std::string kept, line;
  while (std::getline(lines, line)) {
    if (!unknown.contains(line.substr(0, line.find(' ')))) kept += line + "\n";
  }
  return kept;
}

std::string cells_text(std::vector<std::string> cells) {
  const std::size_t count = cells.size();
  cells.resize(std::min(count, kMostCells));
  std::string text = count == 1 ? "cell " : fmt::format("{} cells: ", count);
  text += fmt::format("{}", fmt::join(cells, ", "));
  if (count > kMostCells) text += fmt::format(" and {} more", count - kMostCells);
  return text;
}

std::string changes_text(const Changes& changes) {
  std::string text;
  std::size_t told = 0;
  for (const auto& [change, cells] : changes) {
    if (told == kMostChanges) break;
    text += fmt::format("{}{} ({})", told++ == 0 ? "" : "; ", change, cells_text(cells));
  }
  if (changes.size() > told) text += fmt::format("; and {} more", changes.size() - told);
  return text;
}

[[noreturn]] void refuse_changed(const fs::path& place, const Changes& changes, bool has_only = true,
                                 bool has_found_noise = false) {
  throw Error::in(place, fmt::format("runs here belong to another experiment: {}", changes_text(changes)),
                  {.remedy = fmt::format(
                       "Undo the change, give another folder with --out, or remove the folders of these "
                       "cells to run them again{}.{}",
                       has_only ? "; --only runs others" : "",
                       has_found_noise ? " The noise is for all seeds together: to add some, write the "
                                         "recorded noise_multiplier in place of noise_for_epsilon."
                                       : "")});
}

// One that is neither whole nor the same as `now` cannot say what was changed since.
std::string recorded_experiment(const results::RunDirectory& run, const std::string& now) {
  std::string toml;
  const bool is_there = run.has(results::kExperimentFile);
  if (is_there) toml = run.read_file(results::kExperimentFile);
  if (toml == now || results::is_whole_experiment(toml)) return toml;
  throw Error::in(run.path() / results::kExperimentFile,
                  is_there ? "is cut off, or not the experiment file of a run" : "is gone",
                  {.remedy = kRestoreFile});
}

// Those of cells, which lie at most below a point of a grid; a folder may hold whole data sets beside them.
std::vector<results::FoundRun> runs_in(const fs::path& out) {
  std::vector<fs::path> folders;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(out, fs::directory_options::skip_permission_denied, failure);
       !failure && at != fs::recursive_directory_iterator(); at.increment(failure)) {
    std::error_code ignored;
    const bool is_run = fs::exists(at->path() / results::kSummaryFile, ignored);
    if (is_run) folders.push_back(at->path());
    if (is_run || at.depth() > 0) at.disable_recursion_pending();
  }
  return results::find_runs(folders);
}

}  // namespace

void refuse_existing_run(const fs::path& run) {
  throw Error::in(run, "there is a run in this folder already",
                  {.remedy = "Give another folder with --out. `fedarena run --resume` keeps what is finished "
                             "there and continues the rest."});
}

void check_same_experiment(const results::RunDirectory& run, const std::string& toml) {
  const std::string recorded = recorded_experiment(run, toml);
  if (recorded == toml) return;
  Changes changes;
  add_changes(changes, recorded, toml, run.path().filename().string());
  refuse_changed(run.path().parent_path(), changes);
}

void check_folders(const std::vector<PlannedCell>& cells, const fs::path& out, bool resume,
                   const std::set<std::string>& tuned, bool has_only) {
  std::error_code failure;
  if (!fs::exists(fs::status(out / ".", failure)) && failure == std::errc::not_a_directory)
    fail_on_file(out, "cannot be created", failure.value());
  Changes changes;
  bool has_found_noise = false;
  for (const PlannedCell& cell : cells) {
    const fs::path path = out / cell.folder();
    // A folder that cannot be looked at cannot be written to; that is said when it is tried.
    std::error_code ignored;
    const bool is_run = results::is_run_directory(path);
    const bool has_summary = fs::exists(path / results::kSummaryFile, ignored);
    if (is_run && !has_summary)
      throw Error::in(path / results::kSummaryFile, "is gone, and the rest of a run is there",
                      {.remedy = kRestoreFile});
    if (!resume && fs::exists(path, ignored) && !fs::is_empty(path, ignored)) refuse_existing_run(path);
    if (!has_summary) continue;
    // What is broken is told before anything is trained.
    const auto run = results::RunDirectory::resume(path);
    std::set<std::string> unknown;
    for (const std::string& setting : tuned) {
      const bool of_another =
          setting.starts_with(results::kAlgorithmPaths) && !results::own_key(setting, cell.algorithm->label);
      if (!of_another) unknown.insert(setting.substr(setting.rfind('.') + 1));
    }
    if (cell.algorithm->noise_for_epsilon() > 0) unknown.insert({kNoiseForEpsilon, kNoiseMultiplier});
    const std::string toml = to_toml(cell.experiment());
    const std::string before = without(unknown, recorded_experiment(run, toml));
    const std::string now = without(unknown, toml);
    if (before != now) {
      add_changes(changes, before, now, cell.folder().string());
      has_found_noise |= cell.has_found_noise;
    }
    if (tuned.empty()) add_tuning_change(changes, run.summary(), cell);
  }
  if (!changes.empty()) refuse_changed(out, changes, has_only, has_found_noise);
}

std::optional<results::Summary> recorded_summary(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run / results::kSummaryFile, ignored)) return std::nullopt;
  return results::RunDirectory::open(run).summary();
}

bool is_finished(const std::optional<results::Summary>& recorded) {
  return recorded && recorded->state == results::kFinished;
}

void check_data(const std::vector<PlannedCell>& cells, const fs::path& out, SharedInputs& inputs) {
  const std::vector<results::FoundRun> runs = runs_in(out);
  if (runs.empty()) return;
  std::map<std::string, std::string> hashes;  // by the names that summaries have for data sets
  for (const PlannedCell& cell : cells) {
    const Experiment& experiment = cell.point->experiment;
    hashes[describe_data(experiment)] = inputs.data_hash(experiment);
  }
  Changes changes;
  for (const results::FoundRun& run : runs) {
    if (!run.summary) continue;
    const auto now = hashes.find(run.summary->dataset);
    if (now == hashes.end() || now->second == run.summary->data_hash) continue;
    changes[fmt::format("{}: their SHA-256 was {}, now {}", run.summary->dataset, run.summary->data_hash,
                        now->second)]
        .push_back(run.path.lexically_relative(out).generic_string());
  }
  if (changes.empty()) return;
  throw Error::in(
      out, fmt::format("runs here were made from other data: {}", changes_text(changes)),
      {.remedy =
           "Put the old data back, give another folder with --out, or remove the folders of these runs; "
           "no table may mix the two."});
}

void check_partition(const fs::path& run, const results::RecordedPartition& partition) {
  const std::optional<results::Summary> summary = recorded_summary(run);
  if (!summary || is_finished(summary)) return;
  const auto directory = results::RunDirectory::open(run);
  const bool is_there = directory.has(results::kPartitionFile);
  if (is_there && directory.read_file(results::kPartitionFile) == to_json_text(partition)) return;
  const bool same = summary->partition_hash == partition.index_hash;
  throw Error::in(run / results::kPartitionFile,
                  !is_there ? "is gone"
                  : same ? "is not the card of the partition that this run has: it is damaged or was edited"
                         : fmt::format("is of another partition (index hash {}) than the experiment deals "
                                       "now ({})",
                                       summary->partition_hash, partition.index_hash),
                  {.remedy = kRestoreFile});
}

}  // namespace fedarena
