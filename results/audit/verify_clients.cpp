// What a run says of its clients, against its rounds and the scores of each client; and the card of its
// partition, against its summary, itself and the ledger.
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

void compare_metrics(const ClientMetrics& recorded, const ClientMetrics& recomputed, const std::string& where,
                     Comparison& compare) {
  compare.integer(where + "clients_tested", recorded.tested, recomputed.tested);
  compare.number(where + "client_accuracy_mean", recorded.accuracy_mean, recomputed.accuracy_mean);
  compare.number(where + "client_accuracy_worst", recorded.accuracy_worst, recomputed.accuracy_worst);
  compare.number(where + "client_accuracy_std", recorded.accuracy_std, recomputed.accuracy_std);
  compare.number(where + "client_macro_f1_mean", recorded.macro_f1_mean, recomputed.macro_f1_mean);
}

void compare_errors(const ClientErrors& recorded, const ClientErrors& recomputed, const std::string& where,
                    Comparison& compare) {
  compare.integer(where + "clients_tested", recorded.tested, recomputed.tested);
  compare.number(where + "client_rmse_mean", recorded.rmse_mean, recomputed.rmse_mean);
  compare.number(where + "client_rmse_worst", recorded.rmse_worst, recomputed.rmse_worst);
  compare.number(where + "client_rmse_std", recorded.rmse_std, recomputed.rmse_std);
}

// Rounds after which clients were tested.
using Tested = std::vector<const RoundRecord*>;

Tested tested_among(std::span<const RoundRecord> rounds) {
  Tested tested;
  for (const RoundRecord& round : rounds) {
    if (round.per_client || round.client_errors) tested.push_back(&round);
  }
  return tested;
}

// Accuracies or errors, as the last of these rounds has them.
std::string kind_of(const std::optional<ClientMetrics>& metrics, const std::optional<ClientErrors>& errors) {
  return metrics ? "accuracies" : errors ? "errors" : "absent";
}

void verify_summary(const Summary& summary, const Tested& tested, Comparison& compare) {
  const std::string recorded = kind_of(summary.per_client, summary.client_errors);
  const std::string last =
      tested.empty() ? "absent" : kind_of(tested.back()->per_client, tested.back()->client_errors);
  compare.result(recorded == last, "clients_tested", recorded, last);
  if (recorded != last || tested.empty()) return;
  const bool personal = tested.back()->personal;
  if (summary.personal || personal) compare.boolean("personal", summary.personal, personal);
  if (summary.client_errors) {
    compare_errors(*summary.client_errors, *tested.back()->client_errors, "", compare);
    return;
  }
  compare_metrics(*summary.per_client, *tested.back()->per_client, "", compare);
  std::vector<EvaluatedRound> evaluated;
  for (const RoundRecord* round : tested) {
    if (round->per_client) evaluated.push_back({round->round, *round->per_client});
  }
  const BestOverRounds best = best_over_rounds(evaluated);
  compare.number("best_client_accuracy_mean", summary.best_round->accuracy_mean, best.accuracy_mean);
  compare.integer("best_client_accuracy_round", summary.best_round->accuracy_round, best.accuracy_round);
  compare.number("best_client_macro_f1_mean", summary.best_round->macro_f1_mean, best.macro_f1_mean);
  compare.integer("best_client_macro_f1_round", summary.best_round->macro_f1_round, best.macro_f1_round);
}

// The scores of single clients give their round's means, spread and worst, to the last bit: they are summed
// in the order of the file.
void verify_scores(const ClientScores& scores, const Summary& summary, const RoundRecord& round,
                   const std::filesystem::path& folder, Verification& verification) {
  Comparison compare_scores(verification, folder / kClientsFile);
  compare_scores.result(scores.clients.back().client < summary.clients, "client",
                        fmt::format("{}", scores.clients.back().client),
                        fmt::format("below {}, the number of clients", summary.clients));
  const bool errors = scores.clients.front().rmse.has_value();
  if (errors != round.client_errors.has_value()) {
    return compare_scores.result(false, "clients", errors ? "errors" : "accuracies",
                                 errors ? "accuracies" : "errors");
  }
  Comparison compare(verification, folder / kRoundsFile);
  const std::string where = fmt::format("round {} ", round.round);
  if (errors)
    compare_errors(*round.client_errors, client_errors(scores.clients), where, compare);
  else
    compare_metrics(*round.per_client, client_metrics(scores.clients), where, compare);
}

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

void verify_clients(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                    Verification& verification) {
  const Tested tested = tested_among(rounds);
  const bool finished = summary.state == kFinished;
  Comparison compare(verification, run.path() / kSummaryFile);
  if (finished) verify_summary(summary, tested, compare);
  const std::optional<ClientScores> scores = run.client_scores();
  if (!scores) {
    if (!tested.empty()) {
      verification.notes.push_back(
          fmt::format("has no {}, so the means over clients are not recomputed", kClientsFile));
    }
    return;
  }
  Comparison compare_scores(verification, run.path() / kClientsFile);
  if (finished) {
    compare_scores.integer("round", scores->round, tested.empty() ? 0 : tested.back()->round);
  }
  // A run that will go on may have them of a round that will be run again.
  for (const RoundRecord* round : tested) {
    if (round->round == scores->round) verify_scores(*scores, summary, *round, run.path(), verification);
  }
}

void verify_partition(const RunDirectory& run, const Summary& summary, Verification& verification) {
  const std::optional<RecordedPartition> partition = read_partition(run);
  Comparison compare(verification, run.path() / kPartitionFile);
  if (!partition) {
    if (!summary.partition_id.empty())
      compare.result(false, "the card", "missing", "that of " + summary.partition_id);
    return;
  }
  compare.text("id", partition->id, summary.partition_id);
  compare.text("index_hash", partition->index_hash, summary.partition_hash);
  compare.text("dataset", partition->dataset, summary.dataset);
  compare.integer("seed", partition->seed, summary.seed);
  compare.integer("clients", std::ssize(partition->sizes), summary.clients);
  verify_counts(*partition, compare);
  if (run.has(kLedgerFile)) verify_sizes(*partition, read_ledger(run.path()), compare);
}

}  // namespace fedarena::results
