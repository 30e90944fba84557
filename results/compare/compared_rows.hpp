#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/table/rows.hpp"

namespace fedarena::results {

/// Gathers runs into rows as tables do. Where runs of several folders would be one row but do not fit
/// together (other settings, or the same seed twice), each folder has a row of its own; where those of one
/// folder do not, that is an Error.
Rows gather_compared_rows(std::span<const FoundRun> runs);

/// Gives rows names that tell them apart: the plain name, and for those that share it what differs in their
/// settings, "fedavg (model mlp)", or the folder where nothing does, "fedavg (runs/slow)".
void name_apart(std::span<RowRuns> rows);

/// The name of a row by itself, in one line: "fedprox, mu=0.1".
std::string plain_name(const RowRuns& row);

/// What must be equal for a comparison of two rows to be one of their algorithms, and what a user names to
/// compare them anyway. "grid" stands for the points of a grid, which are otherwise compared one by
/// one.
inline constexpr const char* kAcrossData = "data";
inline constexpr const char* kAcrossPartition = "partition";
inline constexpr const char* kAcrossEpsilon = "epsilon";
inline constexpr const char* kAcrossModel = "model";
inline constexpr const char* kAcrossRounds = "rounds";
inline constexpr const char* kAcrossTuning = "tuning";
inline constexpr const char* kAcrossGrid = "grid";

/// All of them.
std::vector<std::string> across_names();

/// Epsilons that differ by less than this share of the larger one count as equal: noise that was calibrated
/// for one target comes out at almost that.
inline constexpr double kEqualEpsilons = 0.01;

/// One respect in which two rows differ.
struct RowDifference {
  std::string across;  ///< one of the names above
  std::string text;    ///< "index hash of seed 1: \"71210e18\" and \"9a3c55d0\""
};

/// In what two rows differ besides their algorithms. Partitions (id and index hash, or words where a record
/// is older than those) are compared seed by seed, and epsilons by the largest, over the seeds that both
/// have; of each kind, the first difference is told.
std::vector<RowDifference> row_differences(const RowRuns& left, const RowRuns& right);

}  // namespace fedarena::results
