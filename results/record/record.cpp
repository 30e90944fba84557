#include "results/record/record.hpp"

#include <cmath>

#include <fmt/format.h>

#include "results/record/metrics_json.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/tuning.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kSummarySchema = 2;

std::optional<double> optional_number(JsonFields& fields, const std::string& name) {
  if (fields.is_null(name)) return std::nullopt;
  return fields.number(name);
}

std::optional<double> optional_fraction(JsonFields& fields, const std::string& name) {
  if (fields.is_null(name)) return std::nullopt;
  return fields.fraction(name);
}

std::optional<double> read_epsilon(JsonFields& fields) {
  if (fields.is_null("epsilon")) return std::nullopt;
  const double epsilon = fields.number("epsilon");
  if (!(epsilon >= 0)) fields.reject("epsilon", R"(a number from 0, "inf" or null)");
  return epsilon;
}

void read_policy(JsonFields& fields, Summary& summary) {
  summary.policy = fields.choice("policy", {"none", "record", "client"});
  if (summary.policy == "none") return;
  summary.privacy = read_privacy(fields);
  if (fields.has("policy_settings")) summary.policy_settings = fields.texts("policy_settings");
  if (summary.privacy->unit != summary.policy) {
    fields.reject("unit", fmt::format("{}, because that is the policy", summary.policy));
  }
}

void check_rounds(const Summary& summary, const JsonFields& fields) {
  if (summary.rounds_done > summary.rounds) {
    fields.reject("rounds_done", fmt::format("at most the {} planned rounds", summary.rounds));
  }
  const bool finished = summary.state == kFinished;
  if (!summary.stopped.empty()) {
    if (!finished) fields.reject("stopped_by", fmt::format("absent, because the state is {}", summary.state));
    return;
  }
  if (!summary.privacy || summary.privacy->stopped.empty()) {
    if (!finished || summary.rounds_done == summary.rounds) return;
    fields.reject("rounds_done", fmt::format("{}, because the state is finished", summary.rounds));
  }
  if (!finished) fields.reject("stopped", fmt::format("empty, because the state is {}", summary.state));
  if (summary.privacy->budget == 0) fields.reject("stopped", "empty, because there is no budget");
  if (summary.rounds_done == summary.rounds) fields.reject("stopped", "empty, because no round is missing");
  if (summary.rounds_done == 0) fields.reject("rounds_done", "from 1, because the state is finished");
}

// A result exists exactly when the run is finished, so that no half-trained model slips into a table.
void check_state(const Summary& summary, const JsonFields& fields) {
  check_rounds(summary, fields);
  const bool finished = summary.state == kFinished;
  const auto allowed = [&](std::string_view what) {
    return finished ? fmt::format("{}, because the state is finished", what)
                    : fmt::format("null, because the state is {}", summary.state);
  };
  // Regression data have a loss alone.
  if (summary.final_test_accuracy && !finished) fields.reject("final_test_accuracy", allowed("a fraction"));
  if (summary.final_test_loss.has_value() != finished) fields.reject("final_test_loss", allowed("a number"));
  if (summary.privacy && summary.privacy->rdp.has_value() != finished) {
    fields.reject("epsilon_rdp", allowed("an epsilon"));
  }
  if (summary.audit && !(finished && summary.privacy))
    fields.reject(
        "audit", finished ? "absent, because the policy is none" : "absent, because the run is not finished");
}

}  // namespace

std::string to_json_line(const RoundRecord& record) {
  Json json;
  json["round"] = record.round;
  json["test_loss"] = json_number(record.test_loss);
  json["test_accuracy"] = json_number(record.test_accuracy);
  json["clients"] = record.clients;
  json["examples"] = record.examples;
  json["uplink_bytes"] = record.uplink_bytes;
  json["downlink_bytes"] = record.downlink_bytes;
  json["train_seconds"] = json_number(record.train_seconds);
  json["evaluation_seconds"] = json_number(record.evaluation_seconds);
  json["epsilon"] = json_number(record.epsilon);
  append_metrics(json, record);
  std::string line = json_text(json, -1);
  try {
    parse_round(line, {});
  } catch (const Error& error) {
    throw Bug(fmt::format("a round record that cannot be read back: {}", error.what()));
  }
  return line;
}

RoundRecord parse_round(std::string_view line, const Place& place) {
  JsonFields fields(line, place);
  RoundRecord record;
  record.round = fields.integer("round", 1);
  record.test_loss = optional_number(fields, "test_loss");
  record.test_accuracy = optional_fraction(fields, "test_accuracy");
  record.clients = fields.integer("clients", 0);
  record.examples = fields.integer("examples", 0);
  record.uplink_bytes = fields.integer("uplink_bytes", 0);
  record.downlink_bytes = fields.integer("downlink_bytes", 0);
  record.train_seconds = fields.amount("train_seconds");
  record.evaluation_seconds = fields.amount("evaluation_seconds");
  record.epsilon = read_epsilon(fields);
  read_metrics(fields, record);
  fields.finish();
  return record;
}

std::string to_json_text(const Summary& summary) {
  Json json;
  json["schema"] = kSummarySchema;
  json["experiment"] = summary.experiment;
  json["label"] = summary.label;
  json["algorithm"] = summary.algorithm;
  json["dataset"] = summary.dataset;
  json["dataset_note"] = summary.dataset_note;
  if (!summary.data_hash.empty()) json["data_hash"] = summary.data_hash;
  json["partition"] = summary.partition;
  json["partition_id"] = summary.partition_id;
  json["partition_hash"] = summary.partition_hash;
  json["model"] = summary.model;
  for (const auto& [path, value] : summary.sweep) json["sweep"][path] = value;
  json["seed"] = summary.seed;
  json["rounds"] = summary.rounds;
  json["rounds_done"] = summary.rounds_done;
  json["clients"] = summary.clients;
  json["parameters"] = summary.parameters;
  json["state"] = summary.state;
  json["final_test_accuracy"] = json_number(summary.final_test_accuracy);
  json["final_test_loss"] = json_number(summary.final_test_loss);
  json["policy"] = summary.policy;
  if (summary.privacy) append_privacy(json, *summary.privacy);
  for (const auto& [name, value] : summary.policy_settings) json["policy_settings"][name] = value;
  json["uplink_bytes"] = summary.uplink_bytes;
  json["downlink_bytes"] = summary.downlink_bytes;
  json["uplink_bytes_per_client_round"] = json_number(summary.uplink_bytes_per_client_round);
  json["downlink_bytes_per_client_round"] = json_number(summary.downlink_bytes_per_client_round);
  json["seconds"] = json_number(summary.seconds);
  append_metrics(json, summary);
  if (summary.audit) append_audit(json, *summary.audit);
  if (summary.tuning) append_tuning(json, *summary.tuning);
  json["algorithm_parameters"] = Json::object();
  for (const auto& [name, value] : summary.algorithm_parameters) json["algorithm_parameters"][name] = value;
  std::string text = json_text(json, 2) + "\n";
  // Names that occur twice would have been merged.
  FEDARENA_CHECK(json["algorithm_parameters"].size(), ==, summary.algorithm_parameters.size());
  try {
    parse_summary(text, "");
  } catch (const Error& error) {
    throw Bug(fmt::format("a summary that cannot be read back: {}", error.what()));
  }
  return text;
}

Summary parse_summary(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kSummarySchema);
  Summary summary;
  summary.experiment = fields.text("experiment");
  summary.label = fields.text("label");
  summary.algorithm = fields.text("algorithm");
  summary.dataset = fields.text("dataset");
  summary.dataset_note = fields.text("dataset_note");
  if (fields.has("data_hash")) summary.data_hash = fields.digest("data_hash");
  summary.partition = fields.text("partition");
  summary.partition_id = fields.text("partition_id");
  summary.partition_hash = fields.text("partition_hash");
  if (summary.partition_id.empty() != summary.partition_hash.empty()) {
    fields.reject("partition_hash",
                  summary.partition_id.empty() ? "empty, as partition_id is" : "a text that is not empty");
  }
  summary.model = fields.text("model");
  // Runs outside a grid have none.
  if (fields.has("sweep")) summary.sweep = fields.texts("sweep");
  summary.seed = fields.integer("seed");
  summary.rounds = fields.integer("rounds", 1);
  summary.rounds_done = fields.integer("rounds_done", 0);
  summary.clients = fields.integer("clients", 1);
  summary.parameters = fields.integer("parameters", 0);
  summary.state =
      fields.choice("state", {std::string(kRunning), std::string(kInterrupted), std::string(kFinished)});
  summary.final_test_accuracy = optional_fraction(fields, "final_test_accuracy");
  summary.final_test_loss = optional_number(fields, "final_test_loss");
  read_policy(fields, summary);
  summary.uplink_bytes = fields.integer("uplink_bytes", 0);
  summary.downlink_bytes = fields.integer("downlink_bytes", 0);
  summary.uplink_bytes_per_client_round = fields.amount("uplink_bytes_per_client_round");
  summary.downlink_bytes_per_client_round = fields.amount("downlink_bytes_per_client_round");
  summary.seconds = fields.amount("seconds");
  read_metrics(fields, summary);
  summary.audit = read_audit(fields);
  summary.tuning = read_tuning(fields);
  summary.algorithm_parameters = fields.texts("algorithm_parameters");
  fields.finish();
  check_state(summary, fields);
  return summary;
}

Cost total_cost(std::span<const RoundRecord> rounds) {
  Cost total;
  for (const RoundRecord& round : rounds) {
    total.gradients += round.cost.gradients;
    total.operations += round.cost.operations;
    total.at_least = total.at_least || round.cost.at_least;
  }
  return total;
}

bool diverged(const Summary& summary) {
  return summary.final_test_loss && !std::isfinite(*summary.final_test_loss);
}

std::string state_text(const Summary& summary) {
  const bool spent = summary.privacy && !summary.privacy->stopped.empty();
  const std::string& ended_by = spent ? summary.privacy->stopped : summary.stopped;
  const std::string remark = !diverged(summary) ? ended_by
                             : ended_by.empty() ? "diverged"
                                                : ended_by + ", diverged";
  return remark.empty() ? summary.state : fmt::format("{} ({})", summary.state, remark);
}

}  // namespace fedarena::results
