#include "results/record/metrics_json.hpp"

#include <algorithm>

#include "fedarena/base/nearest.hpp"

#include "results/measures/quantity.hpp"

namespace fedarena::results {
namespace {

void append_clients(Json& json, const ClientMetrics& clients) {
  json["clients_tested"] = clients.tested;
  json["client_accuracy_mean"] = json_number(clients.accuracy_mean);
  json["client_accuracy_worst"] = json_number(clients.accuracy_worst);
  json["client_accuracy_std"] = json_number(clients.accuracy_std);
  json["client_macro_f1_mean"] = json_number(clients.macro_f1_mean);
}

void append_errors(Json& json, const ClientErrors& clients) {
  json["clients_tested"] = clients.tested;
  json["client_rmse_mean"] = json_number(clients.rmse_mean);
  json["client_rmse_worst"] = json_number(clients.rmse_worst);
  json["client_rmse_std"] = json_number(clients.rmse_std);
}

void append_cost(Json& json, const Cost& cost) {
  json["gradients"] = cost.gradients;
  json["operations"] = cost.operations;
  if (cost.at_least) json["operations_at_least"] = true;
}

// Gradients of clients' examples are among all gradients.
Cost read_cost(JsonFields& fields, std::int64_t examples) {
  return {.gradients = fields.integer("gradients", examples),
          .operations = fields.integer("operations", 0),
          .at_least = fields.has("operations_at_least") && fields.boolean("operations_at_least")};
}

std::optional<ClientMetrics> read_clients(JsonFields& fields) {
  if (!fields.has("clients_tested") || fields.has("client_rmse_mean")) return std::nullopt;
  return ClientMetrics{.tested = fields.integer("clients_tested", 1),
                       .accuracy_mean = fields.fraction("client_accuracy_mean"),
                       .accuracy_worst = fields.fraction("client_accuracy_worst"),
                       .accuracy_std = fields.fraction("client_accuracy_std"),
                       .macro_f1_mean = fields.fraction("client_macro_f1_mean")};
}

std::optional<ClientErrors> read_errors(JsonFields& fields) {
  if (!fields.has("client_rmse_mean")) return std::nullopt;
  return ClientErrors{.tested = fields.integer("clients_tested", 1),
                      .rmse_mean = fields.number("client_rmse_mean"),
                      .rmse_worst = fields.number("client_rmse_worst"),
                      .rmse_std = fields.number("client_rmse_std")};
}

// A run that is not finished has no result.
void check_finished(const JsonFields& fields, const Summary& summary) {
  if (summary.state == kFinished) return;
  fields.reject("clients_tested", fmt::format("absent, because the state is {}", summary.state));
}

// Names of quantities would stand for two things.
std::vector<std::pair<std::string, double>> read_observed(JsonFields& fields) {
  if (!fields.has("observed")) return {};
  auto observed = fields.numbers("observed");
  if (std::ranges::any_of(observed,
                          [](const auto& entry) { return find_quantity(entry.first).has_value(); })) {
    fields.reject("observed", "names of its own: none of " + join_names(quantity_names()));
  }
  std::sort(observed.begin(), observed.end());
  return observed;
}

}  // namespace

void append_metrics(Json& json, const RoundRecord& record) {
  if (record.classes) {
    json["macro_f1"] = json_number(record.classes->macro_f1);
    json["class_accuracy"] = Json::array();
    for (const std::optional<double>& accuracy : record.classes->accuracy) {
      json["class_accuracy"].push_back(json_number(accuracy));
    }
  }
  if (record.validation_loss) json["validation_loss"] = json_number(*record.validation_loss);
  if (record.validation_accuracy) json["validation_accuracy"] = json_number(*record.validation_accuracy);
  if (record.per_client) append_clients(json, *record.per_client);
  if (record.client_errors) append_errors(json, *record.client_errors);
  append_cost(json, record.cost);
  for (const auto& [name, value] : record.observed) json["observed"][name] = json_number(value);
}

void read_metrics(JsonFields& fields, RoundRecord& record) {
  if (fields.has("macro_f1")) {
    record.classes = {.accuracy = fields.fractions("class_accuracy"),
                      .macro_f1 = fields.fraction("macro_f1")};
  }
  if (fields.has("validation_loss")) record.validation_loss = fields.number("validation_loss");
  if (fields.has("validation_accuracy")) record.validation_accuracy = fields.fraction("validation_accuracy");
  record.per_client = read_clients(fields);
  record.client_errors = read_errors(fields);
  record.cost = read_cost(fields, record.examples);
  record.observed = read_observed(fields);
}

void append_metrics(Json& json, const Summary& summary) {
  if (!summary.stopped.empty()) json["stopped_by"] = summary.stopped;
  json["examples"] = summary.examples;
  append_cost(json, summary.cost);
  if (summary.client_errors) append_errors(json, *summary.client_errors);
  if (!summary.per_client) return;
  append_clients(json, *summary.per_client);
  json["best_client_accuracy_mean"] = json_number(summary.best_round->accuracy_mean);
  json["best_client_accuracy_round"] = summary.best_round->accuracy_round;
  json["best_client_macro_f1_mean"] = json_number(summary.best_round->macro_f1_mean);
  json["best_client_macro_f1_round"] = summary.best_round->macro_f1_round;
}

void read_metrics(JsonFields& fields, Summary& summary) {
  if (fields.has("stopped_by")) {
    summary.stopped =
        fields.choice("stopped_by", {std::string(kStoppedByTarget), std::string(kStoppedByPatience)});
  }
  summary.examples = fields.integer("examples", 0);
  summary.cost = read_cost(fields, summary.examples);
  summary.per_client = read_clients(fields);
  summary.client_errors = read_errors(fields);
  if (summary.per_client || summary.client_errors) check_finished(fields, summary);
  if (!summary.per_client) return;
  summary.best_round = {.accuracy_mean = fields.fraction("best_client_accuracy_mean"),
                        .accuracy_round = fields.integer("best_client_accuracy_round", 1),
                        .macro_f1_mean = fields.fraction("best_client_macro_f1_mean"),
                        .macro_f1_round = fields.integer("best_client_macro_f1_round", 1)};
}

}  // namespace fedarena::results
