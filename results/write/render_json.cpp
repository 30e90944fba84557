#include <cmath>

#include <fmt/format.h>

#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/tuning.hpp"
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
  Json json;
  json["seed"] = seed.seed;
  json["directory"] = seed.path.generic_string();
  json["rounds_done"] = seed.rounds_done;
  json["accuracy"] = json_number(seed.accuracy);
  json["loss"] = json_number(seed.loss);
  json["seconds"] = seed.seconds;
  json["uplink_bytes_per_client_round"] = json_count(seed.uplink_bytes);
  json["downlink_bytes_per_client_round"] = json_count(seed.downlink_bytes);
  json["uplink_bytes"] = seed.uplink_bytes_of_run;
  json["downlink_bytes"] = seed.downlink_bytes_of_run;
  json["epsilon_rdp"] = seed.privacy ? json_epsilon(seed.privacy->rdp) : Json("none");
  json["epsilon_pld"] = seed.privacy ? json_epsilon(seed.privacy->pld) : Json("none");
  json["examples"] = seed.examples ? Json(*seed.examples) : Json(nullptr);
  json["gradients"] = seed.cost ? Json(seed.cost->gradients) : Json(nullptr);
  json["operations"] = seed.cost ? Json(seed.cost->operations) : Json(nullptr);
  json["operations_at_least"] = seed.cost ? Json(seed.cost->at_least) : Json(nullptr);
  if (metric) {
    json["metric"] = json_number(seed.metric);
    json["metric_round"] = seed.metric ? Json(seed.metric_round) : Json(nullptr);
  }
  return json;
}

// The metric of the table, where it has one.
void append_metric(Json& json, const Row& row, const std::optional<RoundMetric>& metric) {
  if (!metric) return;
  json["metric"] = metric->text;
  json["metric_mean"] = row.result ? json_number(row.result->spread.mean) : Json(nullptr);
  json["metric_std"] = row.result ? json_number(row.result->spread.std) : Json(nullptr);
  json["metric_half_width_95"] = row.result ? json_number(row.result->spread.half_width) : Json(nullptr);
}

// In the unit of the other numbers.
Json published_json(const Table& table, const Row& row) {
  if (!row.published) return nullptr;
  const Published& published = *row.published;
  const double unit = row.result && row.result->share ? 100 : 1;
  Json json;
  json["mean"] = published.mean / unit;
  json["std"] = published.std ? Json(*published.std / unit) : Json(nullptr);
  json["n"] = published.n ? Json(*published.n) : Json(nullptr);
  json["source"] = table.published_sources[published.source];
  return json;
}

Json json_of(const Row& row, const Table& table) {
  const std::optional<RoundMetric>& metric = table.metric;
  Json json;
  json["experiment"] = row.setting.experiment;
  json["dataset"] = row.setting.dataset;
  json["partition"] = row.setting.partition;
  json["model"] = row.setting.model;
  json["sweep"] = Json::object();
  for (const Sweep* sweep : {&row.setting.sweep, &row.own_sweep}) {
    for (const auto& [key, value] : *sweep) json["sweep"][key] = value;
  }
  json["label"] = row.label;
  json["algorithm"] = row.algorithm;
  json["algorithm_parameters"] = Json::object();
  for (const auto& [name, value] : row.algorithm_parameters) json["algorithm_parameters"][name] = value;
  if (row.tuning) append_tuning(json, *row.tuning);
  json["rounds"] = row.rounds;
  json["clients"] = row.clients;
  json["parameters"] = row.parameters;
  json["accuracy_mean"] = json_number(row.accuracy_mean);
  json["accuracy_std"] = json_number(row.accuracy_std);
  json["accuracy_half_width_95"] = json_number(row.accuracy_half_width);
  json["rmse_mean"] = json_number(row.rmse_mean);
  json["rmse_std"] = json_number(row.rmse_std);
  json["rmse_half_width_95"] = json_number(row.rmse_half_width);
  for (const ClientColumn& what : kClientColumns) {
    const std::optional<Spread> spread = client_spread(row, what);
    if (!spread) continue;
    json[fmt::format("{}_mean", what.key)] = json_number(spread->mean);
    json[fmt::format("{}_std", what.key)] = json_number(spread->std);
    json[fmt::format("{}_half_width_95", what.key)] = json_number(spread->half_width);
  }
  append_metric(json, row, metric);
  if (!table.published_sources.empty()) json["published"] = published_json(table, row);
  json["best"] = row.best;
  json["policy"] = row.policy;
  json["privacy"] = json_of(row.privacy);
  json["uplink_bytes_per_client_round"] = json_count(row.uplink_bytes);
  json["downlink_bytes_per_client_round"] = json_count(row.downlink_bytes);
  json["uplink_bytes"] = json_count(row.total_uplink_bytes);
  json["downlink_bytes"] = json_count(row.total_downlink_bytes);
  json["examples"] = json_count(row.examples);
  json["gradients"] = json_count(row.gradients);
  json["operations"] = json_count(row.operations);
  json["operations_at_least"] = row.operations ? Json(row.operations_at_least) : Json(nullptr);
  json["seconds"] = row.seconds;
  json["seeds"] = Json::array();
  for (const SeedResult& seed : row.seeds) json["seeds"].push_back(json_of(seed, metric));
  return json;
}

}  // namespace

std::string render_json(const Table& table) {
  Json json;
  json["schema"] = 2;
  json["rows"] = Json::array();
  for (const Row& row : table.rows) json["rows"].push_back(json_of(row, table));
  json["notes"] = table.notes;
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
