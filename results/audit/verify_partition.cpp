// The card of a run's partition, against its summary, itself and the ledger.
#include <cstdint>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/record/partition_file.hpp"
#include "results/audit/privacy_report.hpp"

namespace fedarena::results {
namespace {

// Sums of any whole numbers, which an edited file may hold: unsigned ones wrap, signed ones must not.
std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  std::uint64_t sum = 0;
  for (const std::int64_t count : counts) sum += static_cast<std::uint64_t>(count);
  return static_cast<std::int64_t>(sum);
}

void verify_counts(const RecordedPartition& partition, Comparison& compare) {
  for (std::size_t client = 0; client < partition.class_counts.size(); ++client) {
    const auto& counts = partition.class_counts[client];
    compare.integer(fmt::format("client {} sum of class_counts", client), sum_of(counts),
                    partition.sizes[client]);
    compare.close(fmt::format("client {} label_entropy", client), partition.label_entropy[client],
                  label_entropy(counts));
  }
}

void verify_sizes(const RecordedPartition& partition, const Ledger& ledger, Comparison& compare) {
  for (const auto& [client, record] : ledger.clients()) {
    if (client < 0 || client >= std::ssize(partition.sizes)) continue;  // another number of clients: told
    compare.integer(fmt::format("client {} size", client), partition.sizes[static_cast<std::size_t>(client)],
                    record.examples);
  }
}

}  // namespace

void verify_partition(const RunDirectory& run, const Summary& summary, Verification& verification) {
  const std::optional<RecordedPartition> partition = read_partition(run);
  if (!partition) return;
  Comparison compare(verification, run.path() / kPartitionFile);
  compare.text("id", partition->id, summary.partition_id);
  compare.text("index_hash", partition->index_hash, summary.partition_hash);
  compare.text("dataset", partition->dataset, summary.dataset);
  compare.integer("seed", partition->seed, summary.seed);
  compare.integer("clients", std::ssize(partition->sizes), summary.clients);
  verify_counts(*partition, compare);
  if (run.has(kLedgerFile)) verify_sizes(*partition, read_ledger(run), compare);
}

}  // namespace fedarena::results
