#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>

#include "fedarena/params.hpp"

#include "harness/oracle/example_reader.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/simulation/checkpoint.hpp"
#include "partitions/feature_skew.hpp"
#include "results/record/record.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena {

/// The checkpoint of a run, finished or not. Throws Error where it is gone, damaged or of another model.
Checkpoint read_checkpoint(const results::RunDirectory& run, const Model& model);

/// A finished run, opened again: the cell that it was, its data and what came out. For what asks more of a
/// run than it recorded. `inputs` must outlive it.
class FinishedRun {
 public:
  /// Throws Error where the folder holds no finished run with a checkpoint and a ledger, or where data or
  /// partition are others than the run recorded. `device`: replaces the one that it was trained on, unless
  /// empty.
  FinishedRun(std::filesystem::path path, const Catalog& catalog, SharedInputs& inputs,
              const std::string& device);

  const std::filesystem::path& path() const { return path_; }
  const results::Summary& summary() const { return summary_; }
  /// The cell, with an experiment of its own.
  const PlannedCell& cell() const { return cell_; }
  const Experiment& experiment() const { return cell_.point->experiment; }
  const Dataset& dataset() const { return *dataset_; }
  const Model& model() const { return *model_; }
  const PartitionedData& dealt() const { return *dealt_; }
  /// The global model after the last round.
  const Params& params() const { return params_; }
  /// Whether the client took part in a round, by the ledger: small cohorts never draw some.
  bool took_part(std::int64_t client) const { return took_part_.contains(client); }
  /// Whether clients see their examples changed at all, and what one of them sees them changed by: training
  /// examples, where `first` is 0.
  bool skewed() const { return features_.any(); }
  InputSkew skew_of(std::int64_t client, std::int64_t first = 0) const;

 private:
  std::filesystem::path path_;
  results::Summary summary_;
  PlannedCell cell_;
  const Dataset* dataset_ = nullptr;
  const Model* model_ = nullptr;
  std::shared_ptr<const PartitionedData> dealt_;
  FeatureSkew features_;
  Params params_;
  std::set<std::int64_t> took_part_;
};

}  // namespace fedarena
