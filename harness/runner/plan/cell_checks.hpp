#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/runner/cell_setup.hpp"
#include "harness/runner/run_experiment.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena {

/// A note where the delta of an algorithm's policy is not below one over the examples or clients of the
/// partition; empty where it is, or nothing is private.
std::string delta_note(const AlgorithmEntry& entry, const Partition& partition);

/// Whatever can be said about cells before anything is trained, to a run as to a dry run. What it is given
/// must outlive it.
class CellChecks {
 public:
  /// Takes notes on machine, data, partition and delta, one line each; empty ones are none.
  using Say = std::function<void(const std::string& line)>;

  CellChecks(const CellResources& resources, const RunOptions& options, Say say)
      : resources_(resources), options_(options), say_(std::move(say)) {}

  /// Returns the memory that each cell needs. Throws Error where `check_folders` or `check_data` do, where a
  /// cell's settings, policy, labels or canaries do not fit its data or its model, and where its run
  /// directory cannot be continued; and Interrupted.
  std::vector<std::int64_t> check_all(const std::vector<PlannedCell>& cells, bool resume);
  /// What cells on that device run on, as `environment.json` has it, once one of them was checked.
  const results::Json& environment(const std::string& device) const { return environments_.at(device); }

 private:
  std::int64_t check(const PlannedCell& cell);

  const CellResources& resources_;
  const RunOptions& options_;
  Say say_;
  std::map<std::string, results::Json> environments_;  // by device as written
};

}  // namespace fedarena
