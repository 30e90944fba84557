#include "results/measures/catalogue.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "results/record/test_metrics.hpp"

namespace fedarena::results {
namespace {

using Maybe = std::optional<RecordedNumber>;
using Rounds = const RoundRecord&;

constexpr auto kPerClient = "[evaluation] per_client = true";

Maybe number(const std::optional<double>& value) { return value ? Maybe(*value) : std::nullopt; }

template <auto Group, auto Member>
Maybe of_part(Rounds round) {
  const auto& part = round.*Group;
  return part ? Maybe((*part).*Member) : std::nullopt;
}

Maybe mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024); }

Maybe rmse(Rounds round) {
  if (round.test_accuracy || !round.test_loss) return std::nullopt;
  return root_mean_squared_error(*round.test_loss);
}

Maybe tested_clients(Rounds round) {
  if (round.client_errors) return round.client_errors->tested;
  return of_part<&RoundRecord::per_client, &ClientMetrics::tested>(round);
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

constexpr auto kClientAccuracy = of_part<&RoundRecord::per_client, &ClientMetrics::accuracy_mean>;
constexpr auto kClientMacroF1 = of_part<&RoundRecord::per_client, &ClientMetrics::macro_f1_mean>;

constexpr std::array<CatalogueEntry, 38> kCatalogue = {{
    {.name = "accuracy",
     .heading = "accuracy (%)",
     .words = "Accuracy",
     .field = "test_accuracy",
     .group = "test",
     .of_round = [](Rounds round) { return number(round.test_accuracy); }},
    {.name = "loss",
     .heading = "loss",
     .words = "Loss on the test examples",
     .field = "test_loss",
     .group = "test",
     .unit = NumberUnit::kError,
     .of_round = [](Rounds round) { return number(round.test_loss); }},
    {.name = "rmse",
     .heading = "RMSE",
     .words = "RMSE (root mean squared error)",
     .field = "rmse",
     .group = "test",
     .unit = NumberUnit::kError,
     .of_round = rmse},
    {.name = "macro-f1",
     .heading = "macro F1 (%)",
     .words = "Macro F1",
     .field = "macro_f1",
     .group = "test",
     .of_round = of_part<&RoundRecord::classes, &ClassMetrics::macro_f1>},
    {.field = "class_accuracy", .group = "classes", .each_of_round = class_accuracies},
    {.name = "worst-class",
     .heading = "worst class (%)",
     .words = "Least accuracy on the test examples of any class",
     .of_round = worst_class},
    {.name = "validation-accuracy",
     .heading = "validation accuracy (%)",
     .words = "Accuracy on validation examples",
     .field = "validation_accuracy",
     .group = "validation",
     .recorded_with = "[evaluation] validation_fraction",
     .of_round = [](Rounds round) { return number(round.validation_accuracy); }},
    {.field = "validation_loss",
     .group = "validation",
     .unit = NumberUnit::kError,
     .of_round = [](Rounds round) { return number(round.validation_loss); }},
    {.field = "clients_tested", .group = "clients", .unit = NumberUnit::kCount, .of_round = tested_clients},
    {.name = "client-accuracy",
     .heading = "clients (%)",
     .words = "Mean over clients of the accuracy on each one's own test examples",
     .field = "client_accuracy_mean",
     .group = "clients",
     .recorded_with = kPerClient,
     .of_round = kClientAccuracy},
    {.name = "worst-client",
     .heading = "worst client (%)",
     .words = "Least accuracy of any client on its own test examples",
     .field = "client_accuracy_worst",
     .group = "clients",
     .recorded_with = kPerClient,
     .of_round = of_part<&RoundRecord::per_client, &ClientMetrics::accuracy_worst>},
    {.field = "client_accuracy_std",
     .group = "clients",
     .of_round = of_part<&RoundRecord::per_client, &ClientMetrics::accuracy_std>},
    {.name = "client-macro-f1",
     .heading = "clients' macro F1 (%)",
     .words = "Mean over clients of macro F1 on each one's own test examples",
     .field = "client_macro_f1_mean",
     .group = "clients",
     .recorded_with = kPerClient,
     .of_round = kClientMacroF1},
    {.name = "client-rmse",
     .heading = "clients (RMSE)",
     .words = "Mean over clients of the RMSE on each one's own test examples",
     .field = "client_rmse_mean",
     .group = "clients",
     .unit = NumberUnit::kError,
     .recorded_with = kPerClient,
     .of_round = of_part<&RoundRecord::client_errors, &ClientErrors::rmse_mean>},
    {.name = "worst-client-rmse",
     .heading = "worst client (RMSE)",
     .words = "Largest RMSE of any client on its own test examples",
     .field = "client_rmse_worst",
     .group = "clients",
     .unit = NumberUnit::kError,
     .recorded_with = kPerClient,
     .of_round = of_part<&RoundRecord::client_errors, &ClientErrors::rmse_worst>},
    {.field = "client_rmse_std",
     .group = "clients",
     .unit = NumberUnit::kError,
     .of_round = of_part<&RoundRecord::client_errors, &ClientErrors::rmse_std>},
    {.name = "class:K",
     .heading = "class K (%)",
     .words = "Accuracy on test examples of class K",
     .each_of_round = class_accuracies},
    {.name = "bmta",
     .heading = "BMTA (%)",
     .words = "BMTA (best mean over clients of accuracy of any round so far, hence chosen on test examples)",
     .over_rounds = OverRounds::kLargest,
     .recorded_with = kPerClient,
     .of_round = kClientAccuracy},
    {.name = "bmt-f1",
     .heading = "BMT-F1 (%)",
     .words =
         "BMT-F1 (best mean over clients of macro F1 of any round so far, hence chosen on test examples)",
     .over_rounds = OverRounds::kLargest,
     .recorded_with = kPerClient,
     .of_round = kClientMacroF1},
    {.name = "round",
     .heading = "round",
     .words = "Rounds",
     .unit = NumberUnit::kCount,
     .axis = true,
     .of_round = [](Rounds round) { return Maybe(round.round); }},
    {.name = "epsilon",
     .heading = "epsilon (RDP, upper bound)",
     .words = "Epsilon (RDP, upper bound)",
     .field = "epsilon_rdp",
     .group = "privacy",
     .unit = NumberUnit::kEpsilon,
     .axis = true,
     .of_round = [](Rounds round) { return number(round.epsilon); }},
    {.field = "epsilon_pld", .group = "privacy", .unit = NumberUnit::kEpsilon, .claim = &PrivacyClaim::pld},
    {.field = "as_if_epsilon_rdp",
     .group = "privacy",
     .unit = NumberUnit::kEpsilon,
     .claim = &PrivacyClaim::as_if_rdp},
    {.field = "as_if_epsilon_pld",
     .group = "privacy",
     .unit = NumberUnit::kEpsilon,
     .claim = &PrivacyClaim::as_if_pld},
    {.field = "clients",
     .group = "cost",
     .unit = NumberUnit::kCount,
     .of_round = [](Rounds round) { return Maybe(round.clients); }},
    {.name = "bytes",
     .heading = "bytes sent, up and down (MiB)",
     .words = "What all clients together sent and received, in MiB,",
     .unit = NumberUnit::kBytes,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return mebibytes(round.uplink_bytes + round.downlink_bytes); }},
    {.name = "total-uplink",
     .heading = "bytes sent up (MiB)",
     .words = "What all clients together sent, in MiB,",
     .unit = NumberUnit::kBytes,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return mebibytes(round.uplink_bytes); }},
    {.name = "total-downlink",
     .heading = "bytes sent down (MiB)",
     .words = "What all clients together received, in MiB,",
     .unit = NumberUnit::kBytes,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return mebibytes(round.downlink_bytes); }},
    {.name = "examples",
     .heading = "gradients of clients' examples",
     .words = "Gradients of clients' examples",
     .field = "examples",
     .group = "cost",
     .unit = NumberUnit::kCount,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return Maybe(round.examples); }},
    {.name = "gradients",
     .heading = "gradients of all examples",
     .words = "Gradients of all examples",
     .field = "gradients",
     .group = "cost",
     .unit = NumberUnit::kCount,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return Maybe(round.cost.gradients); }},
    {.name = "operations",
     .heading = "floating-point operations",
     .words = "Floating-point operations",
     .field = "operations",
     .group = "cost",
     .unit = NumberUnit::kCount,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return Maybe(round.cost.operations); }},
    {.field = "operations_at_least",
     .group = "cost",
     .unit = NumberUnit::kCount,
     .of_round = [](Rounds round) { return Maybe(std::int64_t{round.cost.at_least ? 1 : 0}); }},
    {.field = "uplink_bytes",
     .group = "cost",
     .unit = NumberUnit::kBytes,
     .of_round = [](Rounds round) { return Maybe(round.uplink_bytes); }},
    {.field = "downlink_bytes",
     .group = "cost",
     .unit = NumberUnit::kBytes,
     .of_round = [](Rounds round) { return Maybe(round.downlink_bytes); }},
    {.field = "train_seconds",
     .group = "cost",
     .unit = NumberUnit::kSeconds,
     .of_round = [](Rounds round) { return Maybe(round.train_seconds); }},
    {.field = "evaluation_seconds",
     .group = "cost",
     .unit = NumberUnit::kSeconds,
     .of_round = [](Rounds round) { return Maybe(round.evaluation_seconds); }},
    {.name = "seconds",
     .heading = "time (s)",
     .words = "Seconds, evaluation included,",
     .unit = NumberUnit::kSeconds,
     .over_rounds = OverRounds::kSum,
     .axis = true,
     .of_round = [](Rounds round) { return Maybe(round.train_seconds + round.evaluation_seconds); }},
    {.field = "observed",
     .group = "algorithm",
     .unit = NumberUnit::kCount,
     .each_of_round = [](Rounds round) { return round.observed; }},
}};

std::optional<double> as_double(const Maybe& value) {
  if (!value) return std::nullopt;
  return std::visit([](auto each) { return static_cast<double>(each); }, *value);
}

}  // namespace

std::span<const CatalogueEntry> catalogue() { return kCatalogue; }

const CatalogueEntry* find_entry(std::string_view name) {
  const auto* found = std::ranges::find(kCatalogue, name, &CatalogueEntry::name);
  return found == kCatalogue.end() || name.empty() ? nullptr : found;
}

std::span<const CurveAxis> curve_axes() {
  static const std::vector<CurveAxis> kAxes = [] {
    std::vector<CurveAxis> chosen;
    std::ranges::copy_if(kCatalogue, std::back_inserter(chosen), &CatalogueEntry::axis);
    return chosen;
  }();
  return kAxes;
}

std::vector<std::optional<double>> values_of(const CatalogueEntry& entry,
                                             std::span<const RoundRecord> rounds) {
  std::vector<std::optional<double>> values;
  std::optional<double> sum = 0, largest;
  for (const RoundRecord& round : rounds) {
    std::optional<double> value = as_double(entry.of_round(round));
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
