#include "results/record/test_metrics.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/record_form.hpp"
#include "results/statistics/statistics.hpp"

namespace fedarena::results {
namespace {

// Of all clients, hence with the divisor n.
double population_deviation(std::span<const double> values) {
  const double middle = mean(values);
  std::vector<double> squares;
  for (const double value : values) squares.push_back((value - middle) * (value - middle));
  return std::sqrt(mean(squares));
}

constexpr std::int64_t kClientsSchema = 1;

// Of an error, where it has one, or of an accuracy.
void form_score(RecordForm& form, ClientScore& score) {
  form.integer("client", score.client, 0);
  form.integer("test_examples", score.test_examples, 1);
  if (score.rmse) {
    form.number("rmse", *score.rmse);
  } else {
    form.fraction("accuracy", score.accuracy);
    form.fraction("macro_f1", score.macro_f1);
    form.flag("diverged", score.diverged);
  }
}

void form_client_scores(RecordForm& form, ClientScores& scores) {
  const std::vector<ClientScore>& clients = scores.clients;
  form.integer("round", scores.round, 1);
  form.objects("clients", scores.clients, [&](RecordForm& entry, ClientScore& score) {
    JsonFields* fields = entry.fields();
    // An error for all, or for none.
    if (fields != nullptr && (clients.size() == 1 ? fields->has("rmse") : clients.front().rmse.has_value()))
      score.rmse = 0;
    form_score(entry, score);
    if (fields == nullptr || clients.size() == 1) return;
    const std::int64_t before = clients[clients.size() - 2].client;
    if (score.client <= before) fields->reject("client", fmt::format("more than {}, the one before", before));
  });
  if (form.fields() != nullptr && clients.empty()) form.fields()->reject("clients", "at least one client");
}

std::string text_of(const ClientScores& scores) {
  return json_lines(json_of_record(scores, form_client_scores, kClientsSchema)) + "\n}\n";
}

}  // namespace

double macro_f1(std::span<const ClassCount> classes) {
  std::vector<double> scores;
  for (const ClassCount& one : classes) {
    const std::int64_t occurrences = one.examples + one.predicted;
    if (occurrences == 0) continue;
    scores.push_back(2 * static_cast<double>(one.correct) / static_cast<double>(occurrences));
  }
  return scores.empty() ? 0 : mean(scores);
}

ClassMetrics class_metrics(std::span<const ClassCount> classes) {
  ClassMetrics metrics;
  metrics.macro_f1 = macro_f1(classes);
  for (const ClassCount& one : classes) {
    metrics.accuracy.push_back(one.examples == 0 ? std::nullopt
                                                 : std::optional(static_cast<double>(one.correct) /
                                                                 static_cast<double>(one.examples)));
  }
  return metrics;
}

ClientMetrics client_metrics(std::span<const ClientScore> clients) {
  FEDARENA_CHECK(clients.size(), >, 0U);
  std::vector<double> accuracies, scores;
  for (const ClientScore& client : clients) {
    accuracies.push_back(client.accuracy);
    scores.push_back(client.macro_f1);
  }
  return {.tested = static_cast<std::int64_t>(clients.size()),
          .accuracy_mean = mean(accuracies),
          .accuracy_worst = *std::ranges::min_element(accuracies),
          .accuracy_std = population_deviation(accuracies),
          .macro_f1_mean = mean(scores),
          .diverged = std::ranges::count(clients, true, &ClientScore::diverged)};
}

ClientErrors client_errors(std::span<const ClientScore> clients) {
  FEDARENA_CHECK(clients.size(), >, 0U);
  std::vector<double> errors;
  for (const ClientScore& client : clients) errors.push_back(client.rmse.value());
  const auto below_with_nan_last = [](double left, double right) {
    return !std::isnan(left) && (std::isnan(right) || left < right);
  };
  return {.tested = static_cast<std::int64_t>(clients.size()),
          .rmse_mean = mean(errors),
          .rmse_worst = *std::ranges::max_element(errors, below_with_nan_last),
          .rmse_std = population_deviation(errors)};
}

BestOverRounds best_over_rounds(std::span<const EvaluatedRound> rounds) {
  FEDARENA_CHECK(rounds.size(), >, 0U);
  const auto first_best = [&](double ClientMetrics::*mean) {
    return *std::ranges::max_element(rounds, {},
                                     [mean](const EvaluatedRound& one) { return one.clients.*mean; });
  };
  const EvaluatedRound accuracy = first_best(&ClientMetrics::accuracy_mean);
  const EvaluatedRound macro_f1 = first_best(&ClientMetrics::macro_f1_mean);
  return {accuracy.clients.accuracy_mean, accuracy.round, macro_f1.clients.macro_f1_mean, macro_f1.round};
}

std::string to_json_text(const ClientScores& scores) {
  return checked_record(text_of(scores), "scores of clients", parse_client_scores);
}

ClientScores parse_client_scores(std::string_view text, const std::string& file) {
  return parse_record(text, file, kClientsSchema, form_client_scores);
}

}  // namespace fedarena::results
