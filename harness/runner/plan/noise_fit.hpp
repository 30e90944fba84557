#pragma once

#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "fedarena/base/pool.hpp"

#include "harness/loader/plugin_host.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"

namespace fedarena {

/// Cells that are to have the noise which an epsilon takes (`noise_for_epsilon`), with that noise: of a point
/// and an algorithm the least noise multiplier, of four digits, with which no seed of the experiment is
/// forecast to cost more by RDP. What they cost is what the ledger says of them, as of any others.
class NoiseFit {
 public:
  /// Takes notes on the noise multipliers that were found.
  using Say = std::function<void(const std::string& line)>;

  /// What it is given must outlive it.
  NoiseFit(const PluginHost& host, SharedInputs& inputs, const WorkPool& pool, const std::atomic<bool>& stop)
      : host_(host), inputs_(inputs), pool_(pool), stop_(stop) {}

  /// The cells with noise multipliers in place of what asks for them; a progress line goes to `output`.
  /// Throws Error where an algorithm does not say what it will ask for, or no noise reaches the epsilon; and
  /// Interrupted.
  std::vector<PlannedCell> fitted(const std::vector<PlannedCell>& cells, std::FILE* output,
                                  const Say& say) const;

 private:
  double noise_for(const GridPoint& point, const AlgorithmEntry& entry) const;
  double epsilon_of(const GridPoint& point, const AlgorithmEntry& entry, double noise,
                    std::int64_t seed) const;
  // What the noise multiplier must stay below; infinite without such a limit.
  double limit_of(const GridPoint& point, const AlgorithmEntry& entry, std::int64_t seed) const;

  const PluginHost& host_;
  SharedInputs& inputs_;
  const WorkPool& pool_;
  const std::atomic<bool>& stop_;
};

}  // namespace fedarena
