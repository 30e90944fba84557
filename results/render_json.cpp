#include <cmath>

#include <fmt/format.h>

#include "results/privacy_json.hpp"
#include "results/render.hpp"

namespace fedarena::results {
namespace {

// Bytes are whole unless they are means; as whole numbers they read as such.
Json json_bytes(double bytes) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (bytes == std::floor(bytes) && bytes < kLargestExact) return static_cast<std::int64_t>(bytes);
  return json_number(bytes);
}

Json json_of(const std::optional<PrivacyClaim>& claim) {
  if (!claim) return nullptr;
  Json json;
  append_privacy(json, *claim);
  return json;
}

// A model that diverged has an error that is no number.
Json json_optional(std::optional<double> number) { return number ? json_number(*number) : Json(nullptr); }

Json json_of(const SeedResult& seed) {
  Json json;
  json["seed"] = seed.seed;
  json["directory"] = seed.path.generic_string();
  json["rounds_done"] = seed.rounds_done;
  json["accuracy"] = json_optional(seed.accuracy);
  json["loss"] = json_number(seed.loss);
  json["seconds"] = seed.seconds;
  json["uplink_bytes_per_client_round"] = json_bytes(seed.uplink_bytes);
  json["downlink_bytes_per_client_round"] = json_bytes(seed.downlink_bytes);
  json["uplink_bytes"] = seed.uplink_bytes_of_run;
  json["downlink_bytes"] = seed.downlink_bytes_of_run;
  json["epsilon_rdp"] = seed.privacy ? json_epsilon(seed.privacy->rdp) : Json("none");
  json["epsilon_pld"] = seed.privacy ? json_epsilon(seed.privacy->pld) : Json("none");
  return json;
}

Json json_of(const Row& row) {
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
  json["rounds"] = row.rounds;
  json["clients"] = row.clients;
  json["parameters"] = row.parameters;
  json["accuracy_mean"] = json_optional(row.accuracy_mean);
  json["accuracy_std"] = json_optional(row.accuracy_std);
  json["rmse_mean"] = json_optional(row.rmse_mean);
  json["rmse_std"] = json_optional(row.rmse_std);
  for (const ClientColumn& what : kClientColumns) {
    if (!row.clients_tested) break;
    const Spread& spread = *row.clients_tested.*what.member;
    json[fmt::format("{}_mean", what.key)] = json_number(spread.mean);
    json[fmt::format("{}_std", what.key)] = json_optional(spread.std);
  }
  json["best"] = row.best;
  json["policy"] = row.policy;
  json["privacy"] = json_of(row.privacy);
  json["uplink_bytes_per_client_round"] = json_bytes(row.uplink_bytes);
  json["downlink_bytes_per_client_round"] = json_bytes(row.downlink_bytes);
  json["seconds"] = row.seconds;
  json["seeds"] = Json::array();
  for (const SeedResult& seed : row.seeds) json["seeds"].push_back(json_of(seed));
  return json;
}

}  // namespace

std::string render_json(const Table& table) {
  Json json;
  json["schema"] = 2;
  json["rows"] = Json::array();
  for (const Row& row : table.rows) json["rows"].push_back(json_of(row));
  json["notes"] = table.notes;
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
