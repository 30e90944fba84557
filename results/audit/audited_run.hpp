#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

#include "results/audit/comparison.hpp"
#include "results/audit/expected_ledger.hpp"
#include "results/audit/verify.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {

/// The records of a run that is verified, each read once.
struct AuditedRun {
  /// An Error where one of them cannot be read; a finished run has a ledger. Implicit: a verification takes a
  /// path as well.
  AuditedRun(const std::filesystem::path& path);  // NOLINT(google-explicit-constructor)

  std::filesystem::path file(const char* name) const { return directory.path() / name; }
  bool finished() const { return summary.state == kFinished; }
  /// Those that the ledger covers: of a run that goes on, those before its last checkpoint, as the others are
  /// run again.
  std::span<const RoundRecord> rounds() const;

  RunDirectory directory;
  Summary summary;
  std::vector<RoundRecord> recorded;  ///< all rounds on disk
  std::string experiment;             ///< the text of its file
  ResolvedSettings settings;          ///< that it gives
  ExpectedLedger expected;
  std::optional<RecordedPartition> card;  ///< of its partition, where it has one
  std::optional<Ledger> ledger;           ///< none before the first one was written
};

// What verify_run() is made of.

/// The ledger against rounds and summary, and every epsilon against the ledger. Under the policy "none", that
/// no epsilon is recorded.
void verify_privacy(const AuditedRun& run, Verification& verification);

/// Where clients are tested: what the summary says of them against the rounds, and the scores of single
/// clients against their round.
void verify_clients(const AuditedRun& run, Verification& verification);

/// Where clients took one of several models: who took which, against who took part and how many models there
/// are.
void verify_choices(const AuditedRun& run, Verification& verification);

/// What was measured of attacks against the scores of single examples.
void verify_attacks(const AuditedRun& run, Verification& verification);

/// Of canaries: who was in against the seed, and what the summary says of the audit against the scores and
/// the claim.
void verify_audit(const AuditedRun& run, Verification& verification);

/// What the summary says of data, partition, model and settings against the experiment.
void verify_settings(const AuditedRun& run, Verification& verification);

/// Whether settings and environment are such as the program can read and meet with.
void verify_domains(const AuditedRun& run, Verification& verification);

/// Which tests, of how many classes, the rounds tell of, and an early end, against the experiment.
void verify_tests(const AuditedRun& run, Verification& verification);

/// Accuracies of classes, and of all test examples, against how many of these each class has.
void verify_class_accuracies(std::span<const RoundRecord> rounds, std::span<const std::int64_t> test_counts,
                             const Comparison& compare);

/// The card of the partition against the summary, its counts, the ledger and the experiment; without a card,
/// the ledger's numbers of examples against the experiment.
void verify_partition(const AuditedRun& run, Verification& verification);

}  // namespace fedarena::results
