#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

struct AuditedRun;

/// A recorded value that is not what its run's records give.
struct Difference {
  std::filesystem::path file;
  std::string field;
  std::string recorded;
  std::string recomputed;
  bool operator==(const Difference&) const = default;
};

/// What a verification found.
struct Verification {
  std::int64_t values = 0;  ///< how many were recomputed and compared
  std::vector<Difference> differences;
  /// What could not be checked of the run, and why; and an audit that contradicts its claim.
  std::vector<std::string> notes;
};

/// Recomputes what a run's summary and rounds state from the records below them: totals, means and final
/// values from the rounds, every epsilon from the ledger, names, numbers, data, partition and model from the
/// experiment, sizes of clients from data that it knows by name; and whether ledger and rounds speak of the
/// same rounds and clients. Epsilons may differ by 1e-9 relative, because
/// another processor rounds differently; nothing else may differ. Throws Error for a record that cannot be
/// read.
Verification verify_run(const AuditedRun& run);

/// Compares every file of a finished run with the digest that its seal has of it: those that differ, are
/// missing or were added since. An unfinished run has no seal. Throws Error for a seal that cannot be read.
Verification verify_seal(const FoundRun& run);

/// Compares the ledger of a run with what its experiment makes every ledger say: who took part in which
/// rounds, and what each client's data went through: noise multipliers, sampling, rates, numbers of accesses,
/// and what is declared public. Throws Error for a record that cannot be read.
Verification verify_ledger(const AuditedRun& run);

/// Whether runs of one experiment that name the same data set had the same examples, and its runs of one
/// algorithm in one folder the same tuning.
Verification verify_common_data(std::span<const FoundRun> runs);

/// What lies in folders of trials, each read once.
using TrialFolders = std::map<std::filesystem::path, std::vector<FoundRun>>;

/// Compares what a run says of `[tuning]` (the choice, its score, what the trials took) with the trials in
/// the folder beside its own; a note where not all of them can be read there, as in a bundle.
Verification verify_tuning(const FoundRun& run, TrialFolders& folders);

/// Compares the cells of make_table() for these runs, separated by their settings, with those that the rounds
/// and ledgers of its finished runs give.
Verification verify_table(std::span<const FoundRun> runs);

/// "FILE: FIELD is X; recomputed: Y".
std::string describe(const Difference& difference);

}  // namespace fedarena::results
