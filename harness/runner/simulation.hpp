#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/algorithm.hpp"
#include "fedarena/base/pool.hpp"

#include "datasets/dataset.hpp"
#include "harness/gradients/gradients.hpp"
#include "harness/oracle/client_oracle.hpp"
#include "harness/wire/wire.hpp"
#include "partitions/partition.hpp"
#include "results/record.hpp"

namespace fedarena {

/// One algorithm with one seed. References must outlive the simulation.
struct SimulationSetup {
  const Dataset& dataset;
  const Partition& partition;
  const Model& model;
  const Algorithm& algorithm;
  const WorkPool& pool;
  const std::atomic<bool>& stop;  ///< set on Ctrl-C: the round in progress then throws Interrupted
  std::uint64_t seed = 0;
  std::int64_t rounds = 1;
  std::int64_t cohort_size = 1;     ///< clients in each round
  std::int64_t evaluate_every = 1;  ///< rounds between evaluations; the last round is always evaluated
  std::function<void(std::int64_t clients_done, std::int64_t clients)> on_client =
      {};  ///< called from any thread
};

/// Runs a federated algorithm round by round, in memory. A round either completes or leaves no trace.
class Simulation {
 public:
  explicit Simulation(const SimulationSetup& setup);

  /// Cohort, broadcast, local training, aggregation and, when due, evaluation.
  results::RoundRecord next_round();
  std::int64_t rounds_done() const { return round_; }
  bool finished() const { return round_ == setup_.rounds; }

  const Params& params() const { return params_; }
  const Ledger& ledger() const { return ledger_; }

  /// All that the next round depends on, as bytes with a checksum.
  Bytes save() const;
  /// Continues from saved bytes of a simulation with the same setup. Error when they are damaged or foreign.
  void restore(std::span<const std::byte> bytes);

 private:
  struct LocalResult {
    Message uplink;
    Message state;
    RoundAccesses accesses;
    std::int64_t uplink_bytes = 0;
    std::int64_t examples = 0;
  };

  Server server_view(std::int64_t round);
  LocalResult train_client(std::int64_t client, std::int64_t round, const Message& downlink) const;
  void evaluate(results::RoundRecord& record) const;

  SimulationSetup setup_;
  ExampleReader reader_;
  GradientEngine engine_;
  ClientOracle::Setting oracle_setting_;
  std::int64_t round_ = 0;
  Params params_;
  Message server_state_;
  std::map<std::int64_t, Message> client_states_;  // clients that remember nothing have none
  Ledger ledger_;
};

}  // namespace fedarena
