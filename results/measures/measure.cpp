#include "results/measures/measure.hpp"

#include <algorithm>
#include <array>

#include "fedarena/base/error.hpp"

#include "results/record/regression_error.hpp"

namespace fedarena::results {
namespace {

struct MeasureNames {
  Measure measure;
  const char* key;
  const char* heading;
  const char* words;          // begin a legend
  const char* recorded_with;  // the setting that it takes; empty: none
};

constexpr auto kPerClient = "[evaluation] per_client = true";

constexpr std::array<MeasureNames, 11> kMeasures = {
    {{Measure::kAccuracy, "accuracy", "accuracy (%)", "Accuracy", ""},
     {Measure::kLoss, "loss", "loss", "Loss on the test examples", ""},
     {Measure::kRmse, "rmse", "RMSE", "RMSE (root mean squared error)", ""},
     {Measure::kMacroF1, "macro-f1", "macro F1 (%)", "Macro F1", ""},
     {Measure::kWorstClass, "worst-class", "worst class (%)",
      "Least accuracy on the test examples of any class", ""},
     {Measure::kValidationAccuracy, "validation-accuracy", "validation accuracy (%)",
      "Accuracy on validation examples", "[evaluation] validation_fraction"},
     {Measure::kClientAccuracy, "client-accuracy", "clients (%)",
      "Mean over clients of the accuracy on each one's own test examples", kPerClient},
     {Measure::kWorstClient, "worst-client", "worst client (%)",
      "Least accuracy of any client on its own test examples", kPerClient},
     {Measure::kClientMacroF1, "client-macro-f1", "clients' macro F1 (%)",
      "Mean over clients of macro F1 on each one's own test examples", kPerClient},
     {Measure::kClientRmse, "client-rmse", "clients (RMSE)",
      "Mean over clients of the RMSE on each one's own test examples", kPerClient},
     {Measure::kWorstClientRmse, "worst-client-rmse", "worst client (RMSE)",
      "Largest RMSE of any client on its own test examples", kPerClient}}};

const MeasureNames& names_of(Measure measure) {
  return *std::ranges::find(kMeasures, measure, &MeasureNames::measure);
}

// Of the classes that have test examples.
std::optional<double> worst_class(const ClassMetrics& classes) {
  std::optional<double> worst;
  for (const std::optional<double>& accuracy : classes.accuracy) {
    if (accuracy) worst = std::min(*accuracy, worst.value_or(1));
  }
  return worst;
}

}  // namespace

std::vector<std::string> measure_names() {
  std::vector<std::string> keys;
  for (const MeasureNames& names : kMeasures) keys.emplace_back(names.key);
  return keys;
}

std::optional<Measure> find_measure(const std::string& name) {
  for (const MeasureNames& names : kMeasures) {
    if (name == names.key) return names.measure;
  }
  return std::nullopt;
}

std::string name_of(Measure measure) { return names_of(measure).key; }
std::string heading(Measure measure) { return names_of(measure).heading; }
std::string describe(Measure measure) { return names_of(measure).words; }
std::string recorded_with(Measure measure) { return names_of(measure).recorded_with; }

bool is_share(Measure measure) {
  constexpr std::array kErrors = {Measure::kLoss, Measure::kRmse, Measure::kClientRmse,
                                  Measure::kWorstClientRmse};
  return std::ranges::find(kErrors, measure) == kErrors.end();
}

std::optional<double> value_of(Measure measure, const RoundRecord& round) {
  const auto of_clients = [&](double ClientMetrics::*member) {
    return round.per_client ? std::optional((*round.per_client).*member) : std::nullopt;
  };
  const auto of_errors = [&](double ClientErrors::*member) {
    return round.client_errors ? std::optional((*round.client_errors).*member) : std::nullopt;
  };
  switch (measure) {
    case Measure::kAccuracy:
      return round.test_accuracy;
    case Measure::kLoss:
      return round.test_loss;
    case Measure::kRmse:
      if (round.test_accuracy || !round.test_loss) return std::nullopt;
      return root_mean_squared_error(*round.test_loss);
    case Measure::kMacroF1:
      return round.classes ? std::optional(round.classes->macro_f1) : std::nullopt;
    case Measure::kWorstClass:
      return round.classes ? worst_class(*round.classes) : std::nullopt;
    case Measure::kValidationAccuracy:
      return round.validation_accuracy;
    case Measure::kClientAccuracy:
      return of_clients(&ClientMetrics::accuracy_mean);
    case Measure::kWorstClient:
      return of_clients(&ClientMetrics::accuracy_worst);
    case Measure::kClientMacroF1:
      return of_clients(&ClientMetrics::macro_f1_mean);
    case Measure::kClientRmse:
      return of_errors(&ClientErrors::rmse_mean);
    case Measure::kWorstClientRmse:
      return of_errors(&ClientErrors::rmse_worst);
  }
  throw Bug("a measure without a value");
}

}  // namespace fedarena::results
