#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/descriptor.hpp"

#include "harness/config/sections/experiment.hpp"
#include "harness/simulation/simulation.hpp"
#include "harness/slurm/claim.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"

namespace fedarena {

/// The run directory of one cell while it runs: appends rounds, checkpoints, and ends in a summary.
class CellRecord {
 public:
  /// Opens or makes the directory. `plan`: the cell's summary as far as it is known before the first round.
  /// Throws Error when the directory holds a run and `resume` is false, or the run of another experiment, and
  /// when another process or job is at it; so does whatever writes later, once a job has lost its claim.
  /// `partition`: its card, written when the directory is made.
  CellRecord(const std::filesystem::path& path, const Experiment& cell, const results::Json& environment,
             results::Summary plan, bool resume,
             const std::optional<results::RecordedPartition>& partition = std::nullopt);

  /// The summary on disk; its state tells whether anything is left to do.
  const results::Summary& summary() const { return summary_; }
  bool finished() const { return summary_.state == results::kFinished; }
  /// Brings a new simulation to the last checkpoint and drops the rounds recorded after it, whose number it
  /// returns. A round that the checkpoint holds and nothing else does is written down, and so is another
  /// build that goes on from here. Throws Error where what was published before, or charged, is not what the
  /// directory holds now.
  std::int64_t restore(Simulation& simulation);
  /// Writes the ledger, then the round, its synthetic set and its clients' scores before it, and a checkpoint
  /// when the last one is some time ago. When the simulation could not repeat the round, the checkpoint comes
  /// first: whatever noise has touched can be read only once it is charged and will not be drawn again.
  void append(const results::RoundRecord& record, Simulation& simulation);
  /// Leaves a resumable run; where not even the first of the rounds that a crash lost was made again, as the
  /// crash left it.
  void interrupt(Simulation& simulation);
  /// Leaves a run at its last checkpoint, where not even another one can be written. That may fail as well,
  /// and says nothing where the ledger is a round ahead: such a run is as a crash leaves it.
  void leave();
  /// Leaves a run that is no further than it was written down, for this reason; it can be resumed.
  void fail(const std::string& reason);
  /// The rounds written down, in order.
  std::vector<results::RoundRecord> rounds() const { return directory_->rounds(); }
  /// Leaves a finished run: after the last round, or after the one where a rule ended it (`stopped` names
  /// it), or after the one before which the budget was spent. What clients remember in a file goes.
  void finish(Simulation& simulation, const std::string& stopped = {});

 private:
  // The directory, to write to it.
  results::RunDirectory& own();
  void open(const std::filesystem::path& path, const std::string& toml);
  // `unpublished`: the last round, which the directory does not have yet, or not as it is to stay.
  void checkpoint(Simulation& simulation, const results::RoundRecord* unpublished = nullptr);
  void publish(const results::RoundRecord& record, const Simulation& simulation);
  bool has_later_ledger(const Simulation& simulation) const;
  std::int64_t last_round_of_ledger() const;
  void charge_lost(Simulation& simulation) const;
  void write_ledger(const Simulation& simulation);
  void write_audit(const Canaries& canaries, std::vector<double> scores, results::Summary& summary);
  void evaluate_last_round(Simulation& simulation);
  void restore_constant_files();
  void write_summary(std::string_view state);
  void write_summary(std::string_view state, results::Summary summary);

  results::Json environment_;                          // of this process
  std::map<std::string, std::string> constant_files_;  // written at the start, by name
  std::int64_t guesses_ = 0;                           // of the audit
  results::Summary summary_;
  // The last round that a crash lost and that was not made again; 0: none. Up to it ledger.json stays as it
  // is: it tells of which rounds there were answers, which no other build may give anew from the same noise.
  std::int64_t lost_until_ = 0;
  // Whether ledger.json may hold rounds that are not recorded: one that is about to be, or those that a crash
  // lost. Such a run is left as running, as after a crash: whoever verifies it must not call it edited.
  bool ledger_is_ahead_ = false;
  // None on a finished run, which is only read; a claim in jobs of Slurm alone.
  std::optional<slurm::Claim> claim_;
  Descriptor lock_;
  std::optional<results::RunDirectory> directory_;
  results::Seal synthetic_files_;                                 // digests of synthetic sets, each read once
  std::vector<std::string> chain_ = std::vector<std::string>(1);  // digests after 0, 1, ... rounds
  std::chrono::steady_clock::time_point due_;                     // the next checkpoint
};

}  // namespace fedarena
