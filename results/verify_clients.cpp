// What a run says of its clients, against its rounds and the scores of each client.
#include <vector>

#include <fmt/format.h>

#include "results/comparison.hpp"
#include "results/run_directory.hpp"

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

void verify_summary(const Summary& summary, const std::vector<EvaluatedRound>& evaluated,
                    Comparison& compare) {
  compare.result(summary.per_client.has_value() == !evaluated.empty(), "clients_tested",
                 summary.per_client ? "a number" : "absent", evaluated.empty() ? "absent" : "a number");
  if (!summary.per_client || evaluated.empty()) return;
  compare_metrics(*summary.per_client, evaluated.back().clients, "", compare);
  const BestOverRounds best = best_over_rounds(evaluated);
  compare.number("best_client_accuracy_mean", summary.best_round->accuracy_mean, best.accuracy_mean);
  compare.integer("best_client_accuracy_round", summary.best_round->accuracy_round, best.accuracy_round);
  compare.number("best_client_macro_f1_mean", summary.best_round->macro_f1_mean, best.macro_f1_mean);
  compare.integer("best_client_macro_f1_round", summary.best_round->macro_f1_round, best.macro_f1_round);
}

// The scores of single clients give their round's means, spread and worst, to the last bit: they are summed
// in the order of the file.
void verify_scores(const ClientScores& scores, const Summary& summary, const EvaluatedRound& round,
                   const std::filesystem::path& folder, Verification& verification) {
  Comparison compare_scores(verification, folder / kClientsFile);
  compare_scores.result(scores.clients.back().client < summary.clients, "client",
                        fmt::format("{}", scores.clients.back().client),
                        fmt::format("below {}, the number of clients", summary.clients));
  Comparison compare(verification, folder / kRoundsFile);
  compare_metrics(round.clients, client_metrics(scores.clients), fmt::format("round {} ", round.round),
                  compare);
}

}  // namespace

void verify_clients(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                    Verification& verification) {
  std::vector<EvaluatedRound> evaluated;
  for (const RoundRecord& round : rounds) {
    if (round.per_client) evaluated.push_back({round.round, *round.per_client});
  }
  const bool finished = summary.state == kFinished;
  Comparison compare(verification, run.path() / kSummaryFile);
  if (finished) verify_summary(summary, evaluated, compare);
  const std::optional<ClientScores> scores = run.client_scores();
  if (!scores) {
    if (!evaluated.empty()) {
      verification.notes.push_back(fmt::format("{}: has no {}, so the means over clients are not recomputed",
                                               run.path().string(), kClientsFile));
    }
    return;
  }
  Comparison compare_scores(verification, run.path() / kClientsFile);
  if (finished) {
    compare_scores.integer("round", scores->round, evaluated.empty() ? 0 : evaluated.back().round);
  }
  // A run that will go on may have them of a round that will be run again.
  for (const EvaluatedRound& round : evaluated) {
    if (round.round == scores->round) verify_scores(*scores, summary, round, run.path(), verification);
  }
}

}  // namespace fedarena::results
