#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"

#include "harness/loader/plugin_host.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/runner/plan/planned_cell.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// What cells are made and simulated with. All that it names must outlive whoever has it.
struct CellResources {
  const PluginHost& host;  ///< has the cells' algorithms
  SharedInputs& inputs;
  const WorkPool& pool;
  const std::atomic<bool>& stop;  ///< by the user
};

/// The policy that an entry chose.
PrivacyPolicy policy_of(const AlgorithmEntry& entry);

/// Whether some algorithm of the point's file runs under a policy that hides how many examples of which class
/// each client holds, and does not declare that public.
bool hides_label_counts(const GridPoint& point);

/// What was taken from the user's own files, without what such policies hide.
std::string taken_words(const GridPoint& point, const Dataset& dataset);

/// The canaries that an experiment asks for.
CanaryPlan canary_plan(const Experiment& experiment);

/// Names a cell's noise, as `SimulationSetup::cell`: of its resolved settings, algorithm and seed among them,
/// and, where the data are read from files, of their hash and of the algorithm's `plugin`, by name and
/// version. Two runs of one text over files that differ in an example would show it by their difference, had
/// they the same noise. Data that the program draws hold nobody. 64 bits of SHA-256.
std::uint64_t noise_identity(const PlannedCell& cell, SharedInputs& inputs, const std::string& plugin);

/// The simulation of a cell as its experiment describes it, but for who watches it and where clients' memory
/// lies. `algorithm`: that of the cell. It and `dealt` must outlive the simulation.
SimulationSetup cell_setup(const PlannedCell& cell, const PartitionedData& dealt, const Algorithm& algorithm,
                           const CellResources& resources);

/// A cell before its first round, with what its simulation refers to.
class OpenedCell {
 public:
  OpenedCell(const PlannedCell& cell, const CellResources& resources);
  Simulation& simulation() { return simulation_; }

 private:
  std::unique_ptr<const Algorithm> algorithm_;
  std::shared_ptr<const PartitionedData> dealt_;
  Simulation simulation_;
};

/// Why cells cannot begin, gathered to be said at once.
class CannotBegin {
 public:
  /// False where `begin` throws what its algorithm refuses, or its budget: an Error, but no PluginFailure.
  bool try_cell(const PlannedCell& cell, const std::function<void()>& begin);
  /// Of the first, with the number of the others; none: all can.
  std::optional<Complaint> complaint() const;

 private:
  std::optional<Complaint> first_;
  std::size_t count_ = 0;
};

/// What a cell's summary says before its first round.
results::Summary planned_summary(const PlannedCell& cell, const PartitionedData& dealt, SharedInputs& inputs);

}  // namespace fedarena
