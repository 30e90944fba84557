// All numbers of a table for programs: CSV and JSON.
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/record/claim_text.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/sweep.hpp"
#include "results/text/text.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
namespace {

// What the table's metric is of a row; none without a metric, and where a seed lacks it.
std::optional<Spread> metric_of(const Table& table, const Row& row) {
  return table.metric && row.result ? std::optional(row.result->spread) : std::nullopt;
}

// The fields of a row under their headings, in the order of CSV; empty where the row has none.
std::vector<std::pair<std::string, std::string>> fields_of(const Table& table, const Row& row) {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&](std::string name, std::string text) {
    fields.emplace_back(std::move(name), std::move(text));
  };
  const auto add_number = [&](std::string name, std::optional<double> number) {
    add(std::move(name), csv_number(number));
  };
  for (const SettingPart& part : kSettingParts) add(std::string(part.key), row.setting.*part.member);
  add("label", row.label);
  add("algorithm", row.summary().algorithm);
  add("rounds", std::to_string(row.summary().rounds));
  add("rounds_done", rounds_done(row));
  add("seeds", std::to_string(row.seeds.size()));
  const auto add_spread = [&](std::string_view name, const std::optional<Spread>& spread) {
    add_number(fmt::format("{}_mean", name), spread ? std::optional(spread->mean) : std::nullopt);
    add_number(fmt::format("{}_std", name), spread ? spread->std : std::nullopt);
  };
  const auto add_half_width = [&](std::string_view name, const std::optional<Spread>& spread) {
    add_number(fmt::format("{}_half_width_95", name), spread ? spread->half_width : std::nullopt);
  };
  add_spread("accuracy", row.accuracy());
  add_spread("rmse", row.rmse());
  add("policy", row.summary().policy);
  const PrivacyClaim claim = row.privacy.value_or(PrivacyClaim{});
  const auto epsilon = [](const std::optional<Claim>& of) -> std::string {
    return of ? claim_text(of, exact_number) : "";
  };
  add("epsilon_rdp", row.privacy ? epsilon(claim.rdp) : "none");
  add("epsilon_pld", row.privacy ? epsilon(claim.pld) : "none");
  add("as_if_epsilon_rdp", epsilon(claim.as_if_rdp));
  add("as_if_epsilon_pld", epsilon(claim.as_if_pld));
  add("made_epsilon_rdp", epsilon(claim.made_rdp));
  add("made_epsilon_pld", epsilon(claim.made_pld));
  if (claims_per_distance(table)) add_number("epsilon_per_distance", claim.per_distance);
  for (const std::string& what : nominal_names(table))
    add_number(fmt::format("nominal {}", what), nominal_of(row, what));
  add("assumed", claim.assumed ? claim.settings.assume : "");
  add("delta", row.privacy ? exact_number(claim.settings.delta) : "");
  add("unit", claim.unit);
  add("adjacency", claim.adjacency);
  add("orders", row.privacy ? claim.settings.orders : "");
  add("conversion", row.privacy ? claim.settings.conversion : "");
  add("public_data", public_text(claim));
  add("stopped", claim.stopped);
  add_number("uplink_bytes_per_client_round", row.uplink_bytes);
  add_number("downlink_bytes_per_client_round", row.downlink_bytes);
  add_number("seconds", row.seconds);
  add("sweep", sweep_text(row.whole_sweep()));
  for (const CatalogueEntry* column : client_columns()) add_spread(column->column, row.clients(column));
  add_number("examples", row.examples);
  add_number("gradients", row.gradients);
  add_number("operations", row.operations);
  add("operations_at_least", !row.operations ? "" : row.operations_at_least ? "true" : "false");
  add_number("uplink_bytes", row.total_uplink_bytes);
  add_number("downlink_bytes", row.total_downlink_bytes);
  const std::optional<Spread> metric = metric_of(table, row);
  add("metric", table.metric ? table.metric->text : "");
  add_spread("metric", metric);
  add_half_width("accuracy", row.accuracy());
  add_half_width("rmse", row.rmse());
  add_half_width("metric", metric);
  const std::optional<Published> published = raw_published(row);
  add("published_mean", published ? exact_number(published->mean) : "");
  add("published_std", published ? csv_number(published->std) : "");
  add("published_n", published && published->n ? std::to_string(*published->n) : "");
  add("published_source", published ? table.published_sources[published->source] : "");
  add("trials", row.tuning ? std::to_string(row.tuning->trials) : "");
  const bool told = row.tuning && !is_secret(DrawnSizes::kBatches, row.privacy);
  add("trial_examples", told ? std::to_string(row.tuning->examples) : "");
  add("trial_seconds", told ? exact_number(row.tuning->seconds) : "");
  if (any_has(table, &Row::epsilon_at_least)) {
    add_spread("epsilon_at_least", row.epsilon_at_least);
    add("control", !row.epsilon_at_least ? "" : row.control ? "true" : "false");
    add("audits_contradicting", fmt::format("{}", fmt::join(row.audits_contradicting(), " ")));
  }
  for (const std::string& score : attack_scores(table)) {
    for (const AttackMeasure& measure : attack_measures())
      add_spread(fmt::format("{}_{}", measure.field, score), row.attacked(score, measure));
  }
  return fields;
}

// Counts and bytes are whole unless they are means; as whole numbers they read as such.
Json json_count(double count) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (count == std::floor(count) && count < kLargestExact) return static_cast<std::int64_t>(count);
  return json_number(count);
}

Json json_count(std::optional<double> count) { return count ? json_count(*count) : Json(nullptr); }

Json json_of(const std::optional<PrivacyClaim>& claim) {
  if (!claim) return nullptr;
  Json json;
  append_privacy(json, *claim);
  return json;
}

Json json_of(const SeedResult& seed, const std::optional<RoundMetric>& metric) {
  const Summary& summary = seed.summary;
  Json json;
  json["seed"] = summary.seed;
  json["directory"] = seed.path.generic_string();
  json["rounds_done"] = summary.rounds_done;
  json["accuracy"] = json_number(summary.final_test_accuracy);
  json["loss"] = json_number(summary.final_test_loss);
  const bool bytes = !is_secret(DrawnSizes::kCohorts, summary.privacy);
  const bool counts = !is_secret(DrawnSizes::kBatches, summary.privacy);
  json["seconds"] = counts ? Json(summary.seconds) : Json(nullptr);
  const auto of_busy = [](double count) { return count > 0 ? json_count(count) : Json(nullptr); };
  json["uplink_bytes_per_client_round"] = of_busy(summary.uplink_bytes_per_client_round);
  json["downlink_bytes_per_client_round"] = of_busy(summary.downlink_bytes_per_client_round);
  json["uplink_bytes"] = bytes ? Json(summary.uplink_bytes) : Json(nullptr);
  json["downlink_bytes"] = bytes ? Json(summary.downlink_bytes) : Json(nullptr);
  json["epsilon_rdp"] = summary.privacy ? json_epsilon(summary.privacy->rdp) : Json("none");
  json["epsilon_pld"] = summary.privacy ? json_epsilon(summary.privacy->pld) : Json("none");
  json["examples"] = counts ? Json(summary.examples) : Json(nullptr);
  json["gradients"] = counts ? Json(summary.cost.gradients) : Json(nullptr);
  json["operations"] = counts ? Json(summary.cost.operations) : Json(nullptr);
  json["operations_at_least"] = counts ? Json(summary.cost.at_least) : Json(nullptr);
  if (metric) {
    json["metric"] = json_number(seed.metric);
    json["metric_round"] = seed.metric ? Json(seed.metric_round) : Json(nullptr);
  }
  return json;
}

void append_spread(Json& json, std::string_view name, const std::optional<Spread>& spread) {
  json[fmt::format("{}_mean", name)] = spread ? json_number(spread->mean) : Json(nullptr);
  json[fmt::format("{}_std", name)] = spread ? json_number(spread->std) : Json(nullptr);
  json[fmt::format("{}_half_width_95", name)] = spread ? json_number(spread->half_width) : Json(nullptr);
}

Json published_json(const Table& table, const Row& row) {
  const std::optional<Published> published = raw_published(row);
  if (!published) return nullptr;
  Json json;
  json["mean"] = published->mean;
  json["std"] = published->std ? Json(*published->std) : Json(nullptr);
  json["n"] = published->n ? Json(*published->n) : Json(nullptr);
  json["source"] = table.published_sources[published->source];
  return json;
}

Json json_of(const Row& row, const Table& table) {
  const Summary& summary = row.summary();
  Json json;
  for (const SettingPart& part : kSettingParts) json[std::string(part.key)] = row.setting.*part.member;
  json["sweep"] = Json::object();
  for (const auto& [key, value] : row.whole_sweep()) json["sweep"][key] = value;
  json["label"] = row.label;
  json["algorithm"] = summary.algorithm;
  json["algorithm_parameters"] = Json::object();
  for (const auto& [name, value] : summary.algorithm_parameters) json["algorithm_parameters"][name] = value;
  if (row.tuning) append_tuning(json, *row.tuning, !is_secret(DrawnSizes::kBatches, row.privacy));
  json["rounds"] = summary.rounds;
  json["clients"] = summary.clients;
  json["parameters"] = summary.parameters;
  append_spread(json, "accuracy", row.accuracy());
  append_spread(json, "rmse", row.rmse());
  for (const CatalogueEntry* column : client_columns()) {
    if (const auto spread = row.clients(column)) append_spread(json, column->column, spread);
  }
  if (table.metric) {
    json["metric"] = table.metric->text;
    append_spread(json, "metric", metric_of(table, row));
  }
  if (!table.published_sources.empty()) json["published"] = published_json(table, row);
  json["best"] = row.best;
  json["policy"] = summary.policy;
  json["privacy"] = json_of(row.privacy);
  if (row.epsilon_at_least) {
    json["epsilon_at_least_mean"] = json_number(row.epsilon_at_least->mean);
    json["epsilon_at_least_std"] = json_number(row.epsilon_at_least->std);
    json["control"] = row.control;
    json["audits_contradicting"] = row.audits_contradicting();
  }
  for (const std::string& score : attack_scores(table)) {
    for (const AttackMeasure& measure : attack_measures()) {
      if (const auto spread = row.attacked(score, measure))
        append_spread(json["attacks"][score], measure.field.substr(std::string_view("attack_").size()),
                      spread);
    }
  }
  json["uplink_bytes_per_client_round"] = json_count(row.uplink_bytes);
  json["downlink_bytes_per_client_round"] = json_count(row.downlink_bytes);
  json["uplink_bytes"] = json_count(row.total_uplink_bytes);
  json["downlink_bytes"] = json_count(row.total_downlink_bytes);
  json["examples"] = json_count(row.examples);
  json["gradients"] = json_count(row.gradients);
  json["operations"] = json_count(row.operations);
  json["operations_at_least"] = row.operations ? Json(row.operations_at_least) : Json(nullptr);
  json["seconds"] = json_number(row.seconds);
  json["seeds"] = Json::array();
  for (const SeedResult& seed : row.seeds) json["seeds"].push_back(json_of(seed, table.metric));
  return json;
}

}  // namespace

std::optional<Published> raw_published(const Row& row) {
  std::optional<Published> published = row.published;
  if (published && row.result && row.result->share) {
    published->mean /= 100;
    if (published->std) *published->std /= 100;
  }
  return published;
}

std::string render_csv(const Table& table) {
  const auto line_of = [](const auto& fields, auto part) {
    std::vector<std::string> texts;
    for (const auto& field : fields) texts.push_back(field.*part);
    return csv_line(texts);
  };
  using Field = std::pair<std::string, std::string>;
  Row any;  // the headings are those of any row
  any.seeds.emplace_back();
  std::string text = line_of(fields_of(table, any), &Field::first);
  for (const Row& row : table.rows) text += line_of(fields_of(table, row), &Field::second);
  return text;
}

std::string render_json(const Table& table) {
  Json json;
  json["schema"] = 2;
  json["rows"] = Json::array();
  for (const Row& row : table.rows) json["rows"].push_back(json_of(row, table));
  json["notes"] = table.notes;
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
