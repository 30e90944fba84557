#include "results/metrics_json.hpp"

namespace fedarena::results {
namespace {

void append_clients(Json& json, const ClientMetrics& clients) {
  json["clients_tested"] = clients.tested;
  json["client_accuracy_mean"] = json_number(clients.accuracy_mean);
  json["client_accuracy_worst"] = json_number(clients.accuracy_worst);
  json["client_accuracy_std"] = json_number(clients.accuracy_std);
  json["client_macro_f1_mean"] = json_number(clients.macro_f1_mean);
}

std::optional<ClientMetrics> read_clients(JsonFields& fields) {
  if (!fields.has("clients_tested")) return std::nullopt;
  return ClientMetrics{.tested = fields.integer("clients_tested", 1),
                       .accuracy_mean = fields.fraction("client_accuracy_mean"),
                       .accuracy_worst = fields.fraction("client_accuracy_worst"),
                       .accuracy_std = fields.fraction("client_accuracy_std"),
                       .macro_f1_mean = fields.fraction("client_macro_f1_mean")};
}

}  // namespace

void append_metrics(Json& json, const RoundRecord& record) {
  if (record.classes) {
    json["macro_f1"] = json_number(record.classes->macro_f1);
    json["class_accuracy"] = Json::array();
    for (const std::optional<double>& accuracy : record.classes->accuracy) {
      json["class_accuracy"].push_back(accuracy ? json_number(*accuracy) : Json(nullptr));
    }
  }
  if (record.validation_loss) json["validation_loss"] = json_number(*record.validation_loss);
  if (record.validation_accuracy) json["validation_accuracy"] = json_number(*record.validation_accuracy);
  if (record.per_client) append_clients(json, *record.per_client);
}

void read_metrics(JsonFields& fields, RoundRecord& record) {
  if (fields.has("macro_f1")) {
    record.classes = {.accuracy = fields.fractions("class_accuracy"),
                      .macro_f1 = fields.fraction("macro_f1")};
  }
  if (fields.has("validation_loss")) record.validation_loss = fields.number("validation_loss");
  if (fields.has("validation_accuracy")) record.validation_accuracy = fields.fraction("validation_accuracy");
  record.per_client = read_clients(fields);
}

void append_metrics(Json& json, const Summary& summary) {
  if (!summary.stopped.empty()) json["stopped_by"] = summary.stopped;
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
  summary.per_client = read_clients(fields);
  if (!summary.per_client) return;
  if (summary.state != kFinished) {
    fields.reject("clients_tested", fmt::format("absent, because the state is {}", summary.state));
  }
  summary.best_round = {.accuracy_mean = fields.fraction("best_client_accuracy_mean"),
                        .accuracy_round = fields.integer("best_client_accuracy_round", 1),
                        .macro_f1_mean = fields.fraction("best_client_macro_f1_mean"),
                        .macro_f1_round = fields.integer("best_client_macro_f1_round", 1)};
}

}  // namespace fedarena::results
