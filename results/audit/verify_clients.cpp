// What a run says of its clients, against its rounds and the scores of each client; and which models they
// took.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

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
  const RoundRecord& round = *tested.back();
  Summary again = summary;
  again.personal = round.personal;
  again.client_errors = round.client_errors;
  again.per_client = round.per_client;
  std::vector<EvaluatedRound> evaluated;
  for (const RoundRecord* one : tested) {
    if (one->per_client) evaluated.push_back({one->round, *one->per_client});
  }
  if (round.per_client) again.best_round = best_over_rounds(evaluated);
  compare.fields(to_json(summary), to_json(again), true);
}

// Each client has the same test examples after every round, and none is above what is worst for all.
void compare_possible(const Tested& tested, const Comparison& compare) {
  constexpr double kRounding = 1e-9;
  Kinds kinds(compare);
  const auto count = [](const RoundRecord& round) {
    return round.per_client ? round.per_client->tested : round.client_errors->tested;
  };
  for (const RoundRecord* round : tested) {
    const std::string whose = fmt::format(" of round {}", round->round);
    kinds.result(count(*round) == count(*tested.back()), "clients_tested", whose, count(*round),
                 fmt::format("{}, as after the last test", count(*tested.back())));
    if (round->client_errors && std::isfinite(round->client_errors->rmse_mean)) {
      // What numbers that are not negative deviate from their mean by at most.
      const ClientErrors& errors = *round->client_errors;
      const auto tested_clients = static_cast<double>(errors.tested);
      const double least = errors.rmse_mean * (1 - kRounding), most = tested_clients * errors.rmse_mean;
      kinds.result(least <= errors.rmse_worst && errors.rmse_worst <= most * (1 + kRounding),
                   "client_rmse_worst", whose, errors.rmse_worst,
                   fmt::format("{} to {}", exact_number(errors.rmse_mean), exact_number(most)));
      const double widest = std::sqrt(tested_clients) * errors.rmse_mean;
      kinds.result(errors.rmse_std <= widest * (1 + kRounding), "client_rmse_std", whose, errors.rmse_std,
                   fmt::format("at most {}", exact_number(widest)));
    }
    if (!round->per_client) continue;
    const ClientMetrics& metrics = *round->per_client;
    kinds.result(metrics.accuracy_worst <= metrics.accuracy_mean + kRounding, "client_accuracy_worst", whose,
                 metrics.accuracy_worst,
                 fmt::format("at most the mean {}", exact_number(metrics.accuracy_mean)));
    // What numbers from 0 to 1 of that mean deviate by at most (Bhatia and Davis 2000).
    const double widest = std::sqrt(std::max(0.0, metrics.accuracy_mean * (1 - metrics.accuracy_mean)));
    kinds.result(metrics.accuracy_std <= widest + kRounding, "client_accuracy_std", whose,
                 metrics.accuracy_std, fmt::format("at most {}", exact_number(widest)));
  }
  kinds.conclude();
}

// The scores of single clients give their round's means, spread and worst, to the last bit: they are summed
// in the order of the file.
void verify_scores(const ClientScores& scores, const RoundRecord& round, const AuditedRun& run,
                   Verification& verification) {
  Comparison compare_scores(verification, run.file(kClientsFile));
  compare_scores.result(scores.clients.back().client < run.summary.clients, "client",
                        scores.clients.back().client,
                        fmt::format("below {}, the number of clients", run.summary.clients));
  for (const ClientScore& score : scores.clients) {
    const auto examples = static_cast<double>(score.test_examples);
    if (std::round(score.accuracy * examples) / examples != score.accuracy)
      compare_scores.result(false, fmt::format("accuracy of client {}", score.client), score.accuracy,
                            fmt::format("a part of {}", counted(score.test_examples, "example")));
  }
  const bool errors = scores.clients.front().rmse.has_value();
  if (errors != round.client_errors.has_value()) {
    return compare_scores.result(false, "clients", errors ? "errors" : "accuracies",
                                 errors ? "accuracies" : "errors");
  }
  RoundRecord again = round;
  if (errors)
    again.client_errors = client_errors(scores.clients);
  else
    again.per_client = client_metrics(scores.clients);
  Comparison(verification, run.file(kRoundsFile))
      .fields(to_json(round), to_json(again), true, fmt::format("round {} ", round.round));
}

// What ifca observes of the choices of a round: how many clients took each hypothesis.
void compare_counts(const RoundRecord& round, Kinds& kinds) {
  constexpr std::string_view kCount = "hypothesis-";
  std::map<std::string, double> taken;
  for (const auto& [client, model] : round.choices) ++taken[fmt::format("{}{}", kCount, model)];
  for (const auto& [name, count] : round.observed) {
    if (name.starts_with(kCount))
      kinds.result(count == taken[name], name, fmt::format(" of round {}", round.round), count, taken[name]);
  }
}

}  // namespace

void verify_clients(const AuditedRun& run, Verification& verification) {
  const Tested tested = tested_among(run.rounds());
  Comparison compare(verification, run.file(kSummaryFile));
  if (run.finished()) verify_summary(run.summary, tested, compare);
  compare_possible(tested, Comparison(verification, run.file(kRoundsFile)));
  const std::optional<ClientScores> scores = run.directory.client_scores();
  if (!scores) {
    if (!tested.empty()) {
      verification.notes.push_back(
          fmt::format("has no {}, so the means over clients are not recomputed", kClientsFile));
    }
    return;
  }
  Comparison compare_scores(verification, run.file(kClientsFile));
  if (run.finished()) compare_scores.same("round", scores->round, tested.empty() ? 0 : tested.back()->round);
  // A run that will go on may have them of a round that will be run again.
  for (const RoundRecord* round : tested) {
    if (round->round == scores->round) verify_scores(*scores, *round, run, verification);
  }
}

void verify_choices(const AuditedRun& run, Verification& verification) {
  if (!run.ledger) return;  // nobody has taken part yet
  const auto clients = std::ssize(run.ledger->clients());
  const std::optional<std::int64_t> models = run.expected.models();
  Kinds kinds(Comparison(verification, run.file(kRoundsFile)));
  for (const RoundRecord& round : run.rounds()) {
    if (round.choices.empty()) continue;
    const std::string whose = fmt::format(" of round {}", round.round);
    kinds.result(std::ssize(round.choices) == round.clients, "choices", whose, round.choices.size(),
                 fmt::format("{}, as clients", round.clients));
    const std::vector<std::int64_t> cohort = run.expected.cohort(round.round, clients);
    for (const auto& [client, model] : round.choices) {
      kinds.result(std::ranges::binary_search(cohort, client), "choices", whose,
                   fmt::format("of client {}", client), "of clients that took part");
      if (models)
        kinds.result(model < *models, "choices", whose, fmt::format("model {}", model),
                     fmt::format("below {}", *models));
    }
    if (models) compare_counts(round, kinds);
  }
  kinds.conclude();
}

}  // namespace fedarena::results
