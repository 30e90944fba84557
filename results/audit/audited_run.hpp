#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

#include "results/audit/expected_ledger.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {

/// The records of a run that is verified, each read once.
struct AuditedRun {
  /// An Error where one of them cannot be read; a finished run has a ledger.
  explicit AuditedRun(const std::filesystem::path& path);

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

}  // namespace fedarena::results
