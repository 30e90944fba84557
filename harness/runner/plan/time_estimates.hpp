#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"

#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"

namespace fedarena {

/// How many clients and examples a cell has.
struct DealtShares {
  std::int64_t clients = 0;
  std::int64_t examples = 0;  ///< of all clients
  std::int64_t cohort = 0;    ///< clients of a round
};
DealtShares dealt_shares(const PlannedCell& cell, SharedInputs& inputs);

struct TimeEstimate {
  double seconds = 0;
  bool least = false;  ///< the cell's algorithm does not say how often it reads its examples: once is assumed
};

/// What cells will take, as far as that can be said without running them: the examples that they read, times
/// what the gradient of one micro-batch takes on this machine, which is measured once for a model and a batch
/// size. Training and evaluation alone, without start, messages and files.
class TimeEstimates {
 public:
  /// Both must outlive it. `pool`: of the run; who has no work on it makes nothing faster.
  TimeEstimates(SharedInputs& inputs, const WorkPool& pool) : inputs_(inputs), pool_(pool) {}

  /// For all seeds of a point and an algorithm that of the first one asked for, which must outlive it.
  TimeEstimate of(const PlannedCell& cell);

 private:
  TimeEstimate estimate(const PlannedCell& cell);
  double seconds_an_example(const Experiment& experiment, bool clipped, std::int64_t batch_size);

  SharedInputs& inputs_;
  const WorkPool& pool_;
  std::map<const AlgorithmEntry*, TimeEstimate> estimates_;                  // of one point each
  std::map<std::tuple<const Model*, bool, std::int64_t>, double> measured_;  // by size of the batch
};

}  // namespace fedarena
