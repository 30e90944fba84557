#include "results/audit/audited_run.hpp"

#include <algorithm>

#include "results/audit/ledger_findings.hpp"

namespace fedarena::results {

AuditedRun::AuditedRun(const std::filesystem::path& path)
    : directory(RunDirectory::open(path)),
      summary(directory.summary()),
      recorded(directory.rounds()),
      experiment(directory.read_file(kExperimentFile)),
      settings(resolved_settings(experiment)),
      expected(experiment, file(kExperimentFile).string()),
      card(read_partition(directory)) {
  if (finished() || directory.has(kLedgerFile)) ledger = read_ledger(path);
}

std::span<const RoundRecord> AuditedRun::rounds() const {
  const std::span<const RoundRecord> all = recorded;
  if (summary.state != kRunning) return all;
  return all.first(std::min(all.size(), static_cast<std::size_t>(summary.rounds_done)));
}

}  // namespace fedarena::results
