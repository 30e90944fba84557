#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/table/row_key.hpp"

namespace fedarena::results {

/// The runs below one folder that a user named.
struct FolderRuns {
  std::filesystem::path folder;
  std::vector<FoundRun> runs;
};

/// What find_runs() finds below each folder. A run below two of them belongs to the first; a folder that is
/// named twice counts once.
std::vector<FolderRuns> find_runs_by_folder(std::span<const std::filesystem::path> folders);

/// Finished runs that differ in the seed alone.
struct ComparedRow {
  RowKey key;
  std::string folder;                     ///< the named folder that (the first of) the runs came from
  std::map<std::int64_t, FoundRun> runs;  ///< by seed, at least one; each has a summary

  /// The summary of the first seed, for what all seeds share.
  const Summary& summary() const { return *runs.begin()->second.summary; }
  /// The label, and what a grid gives to this algorithm alone: "fedprox, mu=0.1".
  std::string plain_name() const;
};

/// Rows in the order of tables, and what was not counted.
struct ComparedRows {
  std::vector<ComparedRow> rows;
  std::vector<std::string> notes;  ///< one line each: unfinished and broken runs
};

/// Gathers finished runs into rows as tables do. Where runs of several folders would be one row but do not
/// fit together (other settings, or the same seed twice), each folder has a row of its own; where those of
/// one folder do not, that is an Error.
ComparedRows gather_rows(std::span<const FolderRuns> folders);

/// Names that tell the rows apart: the plain name, and for those that share it the point of a grid, folder,
/// experiment, data set, partition or model in which they differ, as far as needed: "fedavg (runs/slow)".
std::vector<std::string> distinct_names(std::span<const ComparedRow* const> rows);

}  // namespace fedarena::results
