#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/record.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena {

/// What to do about a file of a run that is lost or damaged, and that nothing else can replace.
inline constexpr const char* kRestoreFile =
    "Restore the file, or remove the run directory to run this cell again from the start.";

/// Looks at the folders of all cells before hours are spent on the first. A run that has lost its summary is
/// an Error. Without `resume`, a folder that holds a run is an Error. With it, runs of another experiment
/// are: one that says which settings were changed since, from what to what, and which cells they concern; so
/// are runs whose experiment file is not whole. Noise that is still to be found for a cell is left out of
/// that.
/// `tuned`: paths of settings that trials will choose, of cells whose tuning is not known yet either.
/// `has_only`: whether --only, which chooses cells, is an option of the command.
void check_folders(const std::vector<PlannedCell>& cells, const std::filesystem::path& out, bool resume,
                   const std::set<std::string>& tuned = {}, bool has_only = true);

/// Throws that Error for one run and the experiment that it should be of, as a file, unless it is.
void check_same_experiment(const results::RunDirectory& run, const std::string& toml);

/// The summary in a cell's folder; nothing where no run has begun there. Throws Error where it cannot be
/// read.
std::optional<results::Summary> recorded_summary(const std::filesystem::path& run);
/// Whether it is that of a finished run.
bool is_finished(const std::optional<results::Summary>& recorded);

/// Throws Error where runs at or below `out` were made from other data than the cells would be now, so that
/// no folder mixes the two.
void check_data(const std::vector<PlannedCell>& cells, const std::filesystem::path& out,
                SharedInputs& inputs);

/// Throws Error where an unfinished run has lost the card of its partition, or has another than `partition`,
/// which its experiment deals.
void check_partition(const std::filesystem::path& run, const results::RecordedPartition& partition);

/// Throws the Error of a folder that holds a run already.
[[noreturn]] void refuse_existing_run(const std::filesystem::path& run);

}  // namespace fedarena
