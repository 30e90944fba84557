#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/table/rows.hpp"

namespace fedarena::results {

/// The runs below one folder that a user named.
struct FolderRuns {
  std::filesystem::path folder;
  std::vector<FoundRun> runs;
};

/// What find_runs() finds below each folder, with what `fill_in_swept` gives. A run below two of them belongs
/// to the first; a folder that is named twice counts once.
std::vector<FolderRuns> find_runs_by_folder(std::span<const std::filesystem::path> folders);

/// Gathers runs into rows as tables do. Where runs of several folders would be one row but do not fit
/// together (other settings, or the same seed twice), each folder has a row of its own; where those of one
/// folder do not, that is an Error.
Rows gather_rows(std::span<const FolderRuns> folders);

/// Gives rows names that tell them apart: the plain name, and for those that share it what differs in their
/// settings, "fedavg (model mlp)", or the folder where nothing does, "fedavg (runs/slow)".
void name_apart(std::span<RowRuns> rows);

/// The name of a row by itself, in one line: "fedprox, mu=0.1".
std::string plain_name(const RowRuns& row);

}  // namespace fedarena::results
