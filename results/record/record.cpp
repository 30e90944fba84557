#include "results/record/record.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/measures/quantity.hpp"
#include "results/record/record_form.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kSummarySchema = 2;

// Clients' accuracies, or on regression data their errors.
template <typename Record>
void form_clients(RecordForm& form, Record& record) {
  if (form.has("client_rmse_mean", record.client_errors)) {
    auto& clients = form.part(record.client_errors);
    form.integer("clients_tested", clients.tested, 1);
    form.number("client_rmse_mean", clients.rmse_mean);
    form.number("client_rmse_worst", clients.rmse_worst);
    form.number("client_rmse_std", clients.rmse_std);
  } else if (form.has("clients_tested", record.per_client)) {
    auto& clients = form.part(record.per_client);
    form.integer("clients_tested", clients.tested, 1);
    form.fraction("client_accuracy_mean", clients.accuracy_mean);
    form.fraction("client_accuracy_worst", clients.accuracy_worst);
    form.fraction("client_accuracy_std", clients.accuracy_std);
    form.fraction("client_macro_f1_mean", clients.macro_f1_mean);
    constexpr const char* kDiverged = "clients_diverged";
    if (form.has(kDiverged, clients.diverged)) form.integer(kDiverged, clients.diverged, 1);
    if (form.fields() != nullptr && clients.diverged > clients.tested)
      form.fields()->reject(kDiverged, fmt::format("at most {}, the clients tested", clients.tested));
  }
  form.flag("personal", record.personal);
}

// Gradients of clients' examples are among all gradients.
template <typename Record>
void form_cost(RecordForm& form, Record& record) {
  form.integer("gradients", record.cost.gradients, record.examples);
  form.integer("operations", record.cost.operations, 0);
  form.flag("operations_at_least", record.cost.at_least);
}

// Pairs of a client and its model.
void form_choices(RecordForm& form, std::vector<ModelChoice>& choices) {
  constexpr const char* kField = "choices";
  if (form.fields() == nullptr) {
    for (const auto& [client, model] : choices) (*form.json())[kField].push_back({client, model});
    return;
  }
  for (const std::vector<std::int64_t>& pair : form.fields()->lists_of_integers(kField, 0)) {
    if (pair.size() != 2 || (!choices.empty() && pair.front() <= choices.back().client))
      form.fields()->reject(kField, "pairs of a client, ascending, and its model");
    choices.push_back({pair.front(), pair.back()});
  }
}

// Of a round or a run.
void check_personal(const auto& record, const JsonFields& fields) {
  if (record.personal && !record.per_client && !record.client_errors)
    fields.reject("personal", "absent, because no client was tested");
}

void check_round(const RoundRecord& round, const JsonFields& fields) {
  check_personal(round, fields);
  if (round.epsilon && !(*round.epsilon >= 0)) {
    fields.reject("epsilon", R"(a number from 0, "inf" or null)");
  }
  // Names of quantities would stand for two things.
  if (std::ranges::any_of(round.observed,
                          [](const auto& entry) { return find_quantity(entry.first).has_value(); })) {
    fields.reject("observed", "names of its own: none of " + join_names(quantity_names()));
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
  if (summary.privacy->budget.least() == 0) fields.reject("stopped", "empty, because there is no budget");
  if (summary.rounds_done == summary.rounds) fields.reject("stopped", "empty, because no round is missing");
  if (summary.rounds_done == 0) fields.reject("rounds_done", "from 1, because the state is finished");
}

// A result exists exactly when the run is finished, so that no half-trained model slips into a table.
void check_state(const Summary& summary, const JsonFields& fields) {
  const bool finished = summary.state == kFinished;
  if (!summary.failure.empty() && summary.state != kFailed)
    fields.reject("failure", fmt::format("absent, because the state is {}", summary.state));
  if ((summary.per_client || summary.client_errors) && !finished) {
    fields.reject("clients_tested", fmt::format("absent, because the state is {}", summary.state));
  }
  check_rounds(summary, fields);
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

void check_summary(const Summary& summary, const JsonFields& fields) {
  check_personal(summary, fields);
  if (summary.held_out_clients >= summary.clients)
    fields.reject("held_out_clients", fmt::format("below {}, the number of clients", summary.clients));
  for (const auto& [field, text] : {std::pair("partition_id", &summary.partition_id),
                                    std::pair("partition_hash", &summary.partition_hash)}) {
    if (text->empty()) fields.reject(field, "a text that is not empty");
  }
  if (summary.privacy && summary.privacy->unit != summary.policy) {
    fields.reject("unit", fmt::format("{}, because that is the policy", summary.policy));
  }
  check_state(summary, fields);
}

void form_round(RecordForm& form, RoundRecord& round) {
  form.integer("round", round.round, 1);
  form.number("test_loss", round.test_loss);
  form.fraction("test_accuracy", round.test_accuracy);
  form.integer("clients", round.clients, 0);
  form.integer("examples", round.examples, 0);
  form.integer("uplink_bytes", round.uplink_bytes, 0);
  form.integer("downlink_bytes", round.downlink_bytes, 0);
  form.amount("train_seconds", round.train_seconds);
  form.amount("evaluation_seconds", round.evaluation_seconds);
  form.number("epsilon", round.epsilon);
  if (form.has("macro_f1", round.classes)) {
    auto& classes = form.part(round.classes);
    form.fraction("macro_f1", classes.macro_f1);
    form.field("class_accuracy", classes.accuracy, &JsonFields::fractions);
  }
  if (form.has("validation_loss", round.validation_loss))
    form.number("validation_loss", form.part(round.validation_loss));
  if (form.has("validation_accuracy", round.validation_accuracy))
    form.fraction("validation_accuracy", form.part(round.validation_accuracy));
  form_clients(form, round);
  form_cost(form, round);
  if (form.has("observed", round.observed)) form.field("observed", round.observed, &JsonFields::numbers);
  if (form.has("choices", round.choices)) form_choices(form, round.choices);
  if (form.fields() != nullptr) check_round(round, *form.fields());
}

void form_summary(RecordForm& form, Summary& run) {
  form.text("experiment", run.experiment);
  form.text("label", run.label);
  form.text("algorithm", run.algorithm);
  form.text("dataset", run.dataset);
  form.text("dataset_note", run.dataset_note);
  form.field("data_hash", run.data_hash, &JsonFields::digest);
  form.text("partition", run.partition);
  form.text("partition_id", run.partition_id);
  form.text("partition_hash", run.partition_hash);
  form.text("model", run.model);
  if (form.has("sweep", run.sweep)) form.texts("sweep", run.sweep);
  form.integer("seed", run.seed, 0);
  form.integer("rounds", run.rounds, 1);
  form.integer("rounds_done", run.rounds_done, 0);
  form.integer("clients", run.clients, 1);
  if (form.has("held_out_clients", run.held_out_clients))
    form.integer("held_out_clients", run.held_out_clients, 1);
  form.integer("parameters", run.parameters, 0);
  form.choice(
      "state", run.state,
      {std::string(kRunning), std::string(kInterrupted), std::string(kFailed), std::string(kFinished)});
  if (form.has("failure", run.failure)) form.text("failure", run.failure);
  form.fraction("final_test_accuracy", run.final_test_accuracy);
  form.number("final_test_loss", run.final_test_loss);
  form.choice("policy", run.policy, {kUnitNames.begin(), kUnitNames.end()});
  if (run.policy != "none") form_privacy(form, form.part(run.privacy));
  if (form.has("policy_settings", run.policy_settings)) form.texts("policy_settings", run.policy_settings);
  form.integer("uplink_bytes", run.uplink_bytes, 0);
  form.integer("downlink_bytes", run.downlink_bytes, 0);
  form.amount("uplink_bytes_per_client_round", run.uplink_bytes_per_client_round);
  form.amount("downlink_bytes_per_client_round", run.downlink_bytes_per_client_round);
  form.amount("seconds", run.seconds);
  if (form.has("stopped_by", run.stopped))
    form.choice("stopped_by", run.stopped, {std::string(kStoppedByTarget), std::string(kStoppedByPatience)});
  form.integer("examples", run.examples, 0);
  form_cost(form, run);
  form_clients(form, run);
  if (run.per_client) {
    auto& best = form.part(run.best_round);
    form.fraction("best_client_accuracy_mean", best.accuracy_mean);
    form.integer("best_client_accuracy_round", best.accuracy_round, 1);
    form.fraction("best_client_macro_f1_mean", best.macro_f1_mean);
    form.integer("best_client_macro_f1_round", best.macro_f1_round, 1);
  }
  form.object("audit", run.audit, form_audit);
  form.object("tuning", run.tuning, form_tuning);
  form.texts("algorithm_parameters", run.algorithm_parameters);
  if (form.fields() != nullptr) check_summary(run, *form.fields());
}

}  // namespace

Json to_json(const RoundRecord& record) { return json_of_record(record, form_round); }

Json to_json(const Summary& summary) { return json_of_record(summary, form_summary, kSummarySchema); }

std::string to_json_line(const RoundRecord& record) {
  return checked_record(json_text(to_json(record), -1), "a round record", parse_round);
}

RoundRecord parse_round(std::string_view line, const Place& place) {
  JsonFields fields(line, place);
  RoundRecord record;
  RecordForm form(fields);
  form_round(form, record);
  std::ranges::sort(record.observed);
  fields.finish();
  return record;
}

std::string to_json_text(const Summary& summary) {
  return checked_record(json_text(to_json(summary), 2) + "\n", "a summary", parse_summary);
}

Summary parse_summary(std::string_view text, const std::string& file) {
  return parse_record(text, file, kSummarySchema, form_summary);
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

bool ended_early(const Summary& summary) {
  return !summary.stopped.empty() || (summary.privacy && !summary.privacy->stopped.empty());
}

bool diverged(const Summary& summary) {
  return summary.final_test_loss && !std::isfinite(*summary.final_test_loss);
}

bool hides_label_counts(const Summary& summary) {
  const std::pair<std::string, std::string> declared("public_label_counts", "true");
  return summary.privacy && !contains(summary.policy_settings, declared);
}

std::string assumption(const Summary& summary) {
  if (!summary.privacy) return {};
  const std::string& allowed = summary.privacy->settings.assume;
  const bool assumes = summary.state == kFinished ? summary.privacy->assumed : allowed != "nothing";
  return assumes ? allowed : "";
}

bool audit_contradicts(const Summary& summary) {
  return summary.audit && summary.privacy && contradicts(*summary.audit, *summary.privacy);
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
