#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/record/attack_file.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {

/// A run with all that is exported of it.
struct ExportedRun {
  std::string name;              ///< its path below the given folders, such as "fedavg-seed-1"; unique
  std::filesystem::path folder;  ///< its run directory
  Summary summary;
  std::vector<RoundRecord> rounds;                ///< at least one
  std::optional<MembershipAttacks> attacks = {};  ///< on its last model
};

struct ExportedRuns {
  std::vector<ExportedRun> runs;  ///< at least one, in natural order of their paths
  std::vector<std::string>
      notes;  ///< one line each: runs that are left out and why, runs that are not finished
};

/// The runs at and below each folder, also unfinished ones. Names are paths below the folder that holds all
/// the given ones, so that they do not change when runs are added. Broken runs, named with file and field,
/// and runs without a round are noted and left out, attacks that cannot be read likewise; an Error when none
/// is left.
ExportedRuns read_exported_runs(std::span<const std::filesystem::path> folders);

}  // namespace fedarena::results
