// All numbers of a table for programs: CSV and JSON.
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"

#include "results/record/claim_text.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/sweep.hpp"
#include "results/text/text.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
namespace {

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

// Without "attack_".
std::string_view brief_field(const AttackMeasure& measure) {
  return measure.field.substr(std::string_view("attack_").size());
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
    append_spread(json, "metric", row.result ? std::optional(row.result->spread) : std::nullopt);
  }
  if (!table.published_sources.empty()) json["published"] = published_json(table, row);
  json["best"] = row.best;
  json["policy"] = summary.policy;
  json["policy_settings"] = Json::object();
  for (const auto& [name, value] : summary.policy_settings) json["policy_settings"][name] = value;
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
        append_spread(json["attacks"][score], brief_field(measure), spread);
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

// A member of an object; null where it lacks it, or is none.
Json member(const Json& object, const std::string& name) {
  return object.is_object() ? object.value(name, Json()) : Json();
}

std::string csv_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  return value.is_string() ? value.get<std::string>() : exact_number(value.get<double>());
}

// The fields of a row under their headings, in the order of CSV: mostly what its JSON has; empty where the
// row has none.
std::vector<std::pair<std::string, std::string>> fields_of(const Table& table, const Row& row) {
  const Json json = json_of(row, table), privacy = member(json, "privacy"), tuning = member(json, "tuning");
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&](std::string name, std::string text) {
    fields.emplace_back(std::move(name), std::move(text));
  };
  // `prefix`: of the headings alone.
  const auto copy = [&](const Json& object, std::initializer_list<std::string_view> names,
                        std::string_view prefix = {}) {
    for (const std::string_view name : names)
      add(fmt::format("{}{}", prefix, name), csv_text(member(object, std::string(name))));
  };
  for (const SettingPart& part : kSettingParts) copy(json, {part.key});
  copy(json, {"label", "algorithm", "rounds"});
  add("rounds_done", rounds_done(row));
  add("seeds", std::to_string(row.seeds.size()));
  copy(json, {"accuracy_mean", "accuracy_std", "rmse_mean", "rmse_std", "policy"});
  for (const char* epsilon : {"epsilon_rdp", "epsilon_pld"})
    add(epsilon, row.privacy ? csv_text(member(privacy, epsilon)) : "none");
  copy(privacy, {"as_if_epsilon_rdp", "as_if_epsilon_pld", "made_epsilon_rdp", "made_epsilon_pld"});
  if (claims_per_distance(table)) copy(privacy, {"per_distance"}, "epsilon_");
  for (const std::string& what : nominal_names(table))
    add(fmt::format("nominal {}", what), csv_number(nominal_of(row, what)));
  const PrivacyClaim claim = row.privacy.value_or(PrivacyClaim{});
  add("assumed", claim.assumed ? claim.settings.assume : "");
  copy(privacy, {"delta", "unit", "adjacency", "orders", "conversion"});
  add("public_data", public_text(claim));
  copy(privacy, {"stopped"});
  copy(json, {"uplink_bytes_per_client_round", "downlink_bytes_per_client_round", "seconds"});
  add("sweep", sweep_text(row.whole_sweep()));
  for (const CatalogueEntry* column : client_columns())
    copy(json, {fmt::format("{}_mean", column->column), fmt::format("{}_std", column->column)});
  copy(json, {"examples", "gradients", "operations", "operations_at_least", "uplink_bytes", "downlink_bytes",
              "metric", "metric_mean", "metric_std", "accuracy_half_width_95", "rmse_half_width_95",
              "metric_half_width_95"});
  copy(member(json, "published"), {"mean", "std", "n", "source"}, "published_");
  copy(tuning, {"trials"});
  copy(tuning, {"examples", "seconds"}, "trial_");
  copy(member(json, "policy_settings"), {"noise_multiplier", "clip_norm"});
  if (any_has(table, &Row::epsilon_at_least)) {
    copy(json, {"epsilon_at_least_mean", "epsilon_at_least_std", "control"});
    add("audits_contradicting", fmt::format("{}", fmt::join(row.audits_contradicting(), " ")));
  }
  for (const std::string& score : attack_scores(table)) {
    const Json attack = member(member(json, "attacks"), score);
    for (const AttackMeasure& measure : attack_measures()) {
      for (const char* part : {"mean", "std"})
        add(fmt::format("{}_{}_{}", measure.field, score, part),
            csv_text(member(attack, fmt::format("{}_{}", brief_field(measure), part))));
    }
  }
  return fields;
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
  const auto line_of = [](const auto& fields, auto part) { return csv_line(names_of(fields, part)); };
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
