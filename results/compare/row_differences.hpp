#pragma once

#include <string>
#include <vector>

#include "results/table/rows.hpp"

namespace fedarena::results {

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
