#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {

/// A run directory, or something that looks like one and cannot be read.
struct FoundRun {
  std::filesystem::path path;
  std::optional<Summary> summary = {};  ///< none when there is a problem
  std::string problem = {};  ///< file, field and reason, in one line; empty when there is a summary
  std::size_t place = 0;     ///< of its label among those named (`keep_labels`), from 1; 0: none were
  std::filesystem::path folder = {};  ///< the given one at or below which it was found, of several the first
  std::size_t folder_place = 0;       ///< of that among the given ones
  ResolvedSettings settings = {};     ///< what its experiment file says; nothing where it lacks the file
};

/// Whether the folder is a run directory: there is a `summary.json`, or what only a run leaves whose summary
/// is gone, which are rounds, a seal or a checkpoint.
bool is_run_directory(const std::filesystem::path& folder);

/// The run directories at and below each path, each once, in natural order of their paths. Links
/// below a path are followed to runs, not to folders of runs. A broken run, also one without its summary,
/// comes back with its problem, so that one bad file does not hide the others; a path that does not exist or
/// holds no run is an Error.
std::vector<FoundRun> find_runs(std::span<const std::filesystem::path> paths);

/// Makes broken runs of those whose rounds cannot be read or do not go with the summary, as `recorded_rounds`
/// has it, and counts the rounds of unfinished ones, whose summaries may date from their last checkpoint;
/// reads on all cores. For whatever shows results, so that all commands show the same, and one bad file does
/// not hide the others.
void set_aside_unreadable_rounds(std::span<FoundRun> runs);

/// The one run at or below a path, finished or not. An Error when there is none, or more than one.
RunDirectory open_one_run(const std::filesystem::path& path);

/// What is wrong with a file of a run directory, in one line: the file's name, the line and field, the
/// reason. Without the remedy and the folder, which stands beside it wherever a problem is shown.
std::string problem_line(const Error& error);

/// A name for each run: its path below the folder that holds all of `folders`, at and below which the runs
/// were found, such as "quickstart/fedavg-seed-1". Names are distinct, and stay when runs are added.
std::vector<std::string> run_names(std::span<const FoundRun> runs,
                                   std::span<const std::filesystem::path> folders);

}  // namespace fedarena::results
