#include "results/measures/catalogue.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "fedarena/base/find.hpp"

#include "results/record/test_metrics.hpp"

namespace fedarena::results {
namespace {

using Maybe = std::optional<RecordedNumber>;
using Rounds = const RoundRecord&;
using enum NumberUnit;
using enum DrawnSizes;

constexpr auto kPerClient = "[evaluation] per_client = true";

// What a record always has, and what it may lack.
template <typename Number>
Maybe recorded(Number number) {
  return number;
}
Maybe recorded(const std::optional<double>& number) { return number ? Maybe(*number) : std::nullopt; }

template <auto Member>
Maybe of(Rounds round) {
  return recorded(round.*Member);
}

template <auto Member>
Maybe of_cost(Rounds round) {
  return round.cost.*Member;
}

// Of a group of numbers that a record may lack.
template <auto Member, typename Group>
std::optional<double> of_group(const std::optional<Group>& group) {
  return group ? std::optional<double>((*group).*Member) : std::nullopt;
}

// What rounds and runs say of tested clients: their accuracies, on regression data their errors.
template <auto Member>
constexpr bool kIsError = std::is_same_v<decltype(Member), double ClientErrors::*>;

template <auto Member, typename Record>
std::optional<double> of_tested(const Record& record) {
  if constexpr (kIsError<Member>) {
    return of_group<Member>(record.client_errors);
  } else {
    return of_group<Member>(record.per_client);
  }
}

template <auto... Members>
Maybe mebibytes(Rounds round) {
  return (... + static_cast<double>(round.*Members)) / (1024.0 * 1024);
}

Maybe rmse(Rounds round) {
  if (round.test_accuracy || !round.test_loss) return std::nullopt;
  return root_mean_squared_error(*round.test_loss);
}

Maybe mean_f1(Rounds round) { return recorded(of_group<&ClassMetrics::macro_f1>(round.classes)); }

template <auto Member>
std::optional<double> best_round(const Summary& summary) {
  return of_group<Member>(summary.best_round);
}

Maybe tested_clients(Rounds round) {
  if (round.client_errors) return round.client_errors->tested;
  return round.per_client ? Maybe(round.per_client->tested) : std::nullopt;
}

Maybe diverged_clients(Rounds round) {
  return round.per_client ? Maybe(round.per_client->diverged) : std::nullopt;
}

// Of the classes that have test examples.
std::vector<std::pair<std::string, double>> class_accuracies(Rounds round) {
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t label = 0; round.classes && label < round.classes->accuracy.size(); ++label) {
    if (const auto& accuracy = round.classes->accuracy[label])
      values.emplace_back(std::to_string(label), *accuracy);
  }
  return values;
}

Maybe worst_class(Rounds round) {
  Maybe worst;
  for (const auto& [label, accuracy] : class_accuracies(round)) {
    if (!worst || accuracy < std::get<double>(*worst)) worst = accuracy;
  }
  return worst;
}

// What may be asked for, by its name, its heading and its words.
constexpr CatalogueEntry named(std::string_view name, std::string_view heading, std::string_view words,
                               CatalogueEntry entry) {
  entry.name = name;
  entry.heading = heading;
  entry.words = words;
  return entry;
}

// What a round took.
constexpr CatalogueEntry cost(std::string_view field, NumberUnit unit, DrawnSizes draws,
                              Maybe (*of_round)(Rounds)) {
  return {.field = field, .group = "cost", .unit = unit, .draws = draws, .of_round = of_round};
}

// What each round adds to.
constexpr CatalogueEntry spent(std::string_view name, std::string_view heading, std::string_view words,
                               CatalogueEntry entry) {
  entry.over_rounds = OverRounds::kSum;
  entry.axis = true;
  return named(name, heading, words, entry);
}

// What the evaluation of every client on its own test examples says. (Sanitized, GCC 12 compares no function
// with nullptr in a constant, so that the other way to a summary's number is a parameter.)
template <auto Member, auto OfSummary = of_tested<Member, Summary>>
constexpr CatalogueEntry of_clients(std::string_view name, std::string_view heading, std::string_view words,
                                    CatalogueEntry entry) {
  entry.group = "clients";
  entry.unit = kIsError<Member> ? kError : kShare;
  entry.recorded_with = kPerClient;
  entry.of_round = [](Rounds round) { return recorded(of_tested<Member>(round)); };
  entry.of_summary = OfSummary;
  return named(name, heading, words, entry);
}

constexpr auto kCatalogue = std::to_array<CatalogueEntry>({
    named("accuracy", "accuracy (%)", "Accuracy",
          {.field = "test_accuracy", .group = "test", .of_round = of<&RoundRecord::test_accuracy>}),
    named("loss", "loss", "Loss on the test examples",
          {.field = "test_loss", .group = "test", .unit = kError, .of_round = of<&RoundRecord::test_loss>}),
    named("rmse", "RMSE", "RMSE (root mean squared error)",
          {.field = "rmse", .group = "test", .unit = kError, .of_round = rmse}),
    named("macro-f1", "macro F1 (%)", "Macro F1",
          {.field = "macro_f1", .group = "test", .of_round = mean_f1}),
    {.field = "class_accuracy", .group = "classes", .each_of_round = class_accuracies},
    named("worst-class", "worst class (%)", "Least accuracy on the test examples of any class",
          {.of_round = worst_class}),
    named("validation-accuracy", "validation accuracy (%)", "Accuracy on validation examples",
          {.field = "validation_accuracy",
           .group = "validation",
           .recorded_with = "[evaluation] validation_fraction or held_out_clients, of classes",
           .of_round = of<&RoundRecord::validation_accuracy>}),
    named("validation-loss", "validation loss", "Loss on validation examples",
          {.field = "validation_loss",
           .group = "validation",
           .unit = kError,
           .recorded_with = "[evaluation] validation_fraction or held_out_clients",
           .of_round = of<&RoundRecord::validation_loss>}),
    {.field = "clients_tested", .group = "clients", .unit = kCount, .of_round = tested_clients},
    {.field = "clients_diverged", .group = "clients", .unit = kCount, .of_round = diverged_clients},
    of_clients<&ClientMetrics::accuracy_mean>(
        "client-accuracy", "clients (%)", "Mean over clients of the accuracy on each one's own test examples",
        {.field = "client_accuracy_mean", .column = "client_accuracy"}),
    of_clients<&ClientMetrics::accuracy_worst>(
        "worst-client", "worst client (%)", "Least accuracy of any client on its own test examples",
        {.field = "client_accuracy_worst", .column = "client_accuracy_worst"}),
    of_clients<&ClientMetrics::accuracy_std>({}, {}, {}, {.field = "client_accuracy_std"}),
    of_clients<&ClientMetrics::macro_f1_mean>("client-macro-f1", "clients' macro F1 (%)",
                                              "Mean over clients of macro F1 on each one's own test examples",
                                              {.field = "client_macro_f1_mean"}),
    of_clients<&ClientErrors::rmse_mean>("client-rmse", "clients (RMSE)",
                                         "Mean over clients of the RMSE on each one's own test examples",
                                         {.field = "client_rmse_mean", .column = "client_rmse"}),
    of_clients<&ClientErrors::rmse_worst>("worst-client-rmse", "worst client (RMSE)",
                                          "Largest RMSE of any client on its own test examples",
                                          {.field = "client_rmse_worst", .column = "client_rmse_worst"}),
    of_clients<&ClientErrors::rmse_std>({}, {}, {}, {.field = "client_rmse_std"}),
    named("class:K", "class K (%)", "Accuracy on test examples of class K",
          {.each_of_round = class_accuracies}),
    of_clients<&ClientMetrics::accuracy_mean, best_round<&BestOverRounds::accuracy_mean>>(
        "bmta", "BMTA (%)",
        "BMTA (best mean over clients of accuracy of any round evaluated so far, hence chosen on test "
        "examples)",
        {.column = "best_client_accuracy", .over_rounds = OverRounds::kLargest}),
    of_clients<&ClientMetrics::macro_f1_mean, best_round<&BestOverRounds::macro_f1_mean>>(
        "bmt-f1", "BMT-F1 (%)",
        "BMT-F1 (best mean over clients of macro F1 of any round evaluated so far, hence chosen on test "
        "examples)",
        {.column = "best_client_macro_f1", .over_rounds = OverRounds::kLargest}),
    named("round", "round", "Rounds done",
          {.unit = kCount, .axis = true, .of_round = of<&RoundRecord::round>}),
    named("epsilon", "epsilon (RDP, upper bound)", "Epsilon (RDP, upper bound)",
          {.field = "epsilon_rdp",
           .group = "privacy",
           .unit = kEpsilon,
           .axis = true,
           .of_round = of<&RoundRecord::epsilon>,
           .claim = &PrivacyClaim::rdp}),
    {.field = "epsilon_pld", .group = "privacy", .unit = kEpsilon, .claim = &PrivacyClaim::pld},
    {.field = "as_if_epsilon_rdp", .group = "privacy", .unit = kEpsilon, .claim = &PrivacyClaim::as_if_rdp},
    {.field = "as_if_epsilon_pld", .group = "privacy", .unit = kEpsilon, .claim = &PrivacyClaim::as_if_pld},
    cost("clients", kCount, kCohorts, of<&RoundRecord::clients>),
    spent("bytes", "bytes sent, up and down (MiB)", "What all clients together sent and received, in MiB,",
          {.unit = kBytes,
           .draws = kCohorts,
           .of_round = mebibytes<&RoundRecord::uplink_bytes, &RoundRecord::downlink_bytes>}),
    spent("total-uplink", "bytes sent up (MiB)", "What all clients together sent, in MiB,",
          {.unit = kBytes, .draws = kCohorts, .of_round = mebibytes<&RoundRecord::uplink_bytes>}),
    spent("total-downlink", "bytes sent down (MiB)", "What all clients together received, in MiB,",
          {.unit = kBytes, .draws = kCohorts, .of_round = mebibytes<&RoundRecord::downlink_bytes>}),
    spent("examples", "gradients of clients' examples", "Gradients of clients' examples",
          cost("examples", kCount, kBatches, of<&RoundRecord::examples>)),
    spent("gradients", "gradients of all examples", "Gradients of all examples",
          cost("gradients", kCount, kBatches, of_cost<&Cost::gradients>)),
    spent("operations", "floating-point operations", "Floating-point operations",
          cost("operations", kCount, kBatches, of_cost<&Cost::operations>)),
    cost("operations_at_least", kCount, kBatches,
         [](Rounds round) { return Maybe(std::int64_t{round.cost.at_least ? 1 : 0}); }),
    cost("uplink_bytes", kBytes, kCohorts, of<&RoundRecord::uplink_bytes>),
    cost("downlink_bytes", kBytes, kCohorts, of<&RoundRecord::downlink_bytes>),
    cost("train_seconds", kSeconds, kBatches, of<&RoundRecord::train_seconds>),
    cost("evaluation_seconds", kSeconds, kBatches, of<&RoundRecord::evaluation_seconds>),
    spent("seconds", "time (s)", "Seconds, evaluation included,",
          {.unit = kSeconds,
           .draws = kBatches,
           .of_round = [](Rounds round) { return Maybe(round.train_seconds + round.evaluation_seconds); }}),
    {.field = "observed",
     .group = "algorithm",
     .unit = kCount,
     .each_of_round = [](Rounds round) { return round.observed; }},
    {.field = "choice",
     .group = "algorithm",
     .unit = kCount,
     .each_of_round =
         [](Rounds round) {
           std::vector<std::pair<std::string, double>> models;
           for (const auto& [client, model] : round.choices)
             models.emplace_back(std::to_string(client), static_cast<double>(model));
           return models;
         }},
});

std::optional<double> as_double(const Maybe& value) {
  if (!value) return std::nullopt;
  return std::visit([](auto each) { return static_cast<double>(each); }, *value);
}

}  // namespace

std::span<const CatalogueEntry> catalogue() { return kCatalogue; }

std::span<const AttackMeasure> attack_measures() {
  // An AUC is not a share: it is never printed in percent.
  static constexpr auto kMeasures = std::to_array<AttackMeasure>({
      named("attack-auc", "AUC", "Area below the ROC curve of the membership attack",
            {.field = "attack_auc", .unit = kError, .of_attack = &Separation::auc}),
      named("attack-tpr-1", "TPR at 1 % FPR (%)",
            "True positive rate at 1 % false positives of the membership attack",
            {.field = "attack_tpr_at_1_percent", .of_attack = &Separation::tpr_at_1_percent}),
      named("attack-tpr-01", "TPR at 0.1 % FPR (%)",
            "True positive rate at 0.1 % false positives of the membership attack",
            {.field = "attack_tpr_at_01_percent", .of_attack = &Separation::tpr_at_01_percent}),
      named("attack-advantage", "advantage (%)", "Advantage of the membership attack",
            {.field = "attack_advantage", .of_attack = &Separation::advantage}),
  });
  return kMeasures;
}

const CatalogueEntry* find_entry(std::string_view name) {
  return name.empty() ? nullptr : find_named(kCatalogue, name, &CatalogueEntry::name);
}

std::span<const CurveAxis> curve_axes() {
  static const std::vector<CurveAxis> kAxes = [] {
    std::vector<CurveAxis> chosen;
    std::ranges::copy_if(kCatalogue, std::back_inserter(chosen), &CatalogueEntry::axis);
    return chosen;
  }();
  return kAxes;
}

std::optional<RecordedNumber> number_of(const CatalogueEntry& entry, const std::optional<PrivacyClaim>& claim,
                                        const RoundRecord& round) {
  if (entry.of_round == nullptr) return std::nullopt;
  const Maybe number = entry.of_round(round);
  if (number && entry.claim != nullptr && claim && hides_what_was_spent(*claim)) return *claim->rdp->epsilon;
  return number;
}

std::vector<std::optional<double>> values_of(const CatalogueEntry& entry,
                                             const std::optional<PrivacyClaim>& claim,
                                             std::span<const RoundRecord> rounds) {
  if (is_secret(entry.draws, claim)) return std::vector<std::optional<double>>(rounds.size());
  std::vector<std::optional<double>> values;
  std::optional<double> sum = 0, largest;
  for (const RoundRecord& round : rounds) {
    std::optional<double> value = as_double(number_of(entry, claim, round));
    if (entry.over_rounds == OverRounds::kSum) {
      value = sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
    } else if (entry.over_rounds == OverRounds::kLargest && value) {
      value = largest = std::max(*value, largest.value_or(0));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace fedarena::results
