#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "results/record/claim_text.hpp"
#include "results/text/csv_line.hpp"
#include "results/text/number_format.hpp"
#include "results/write/render.hpp"

namespace fedarena::results {
namespace {

std::string exact_claim(const std::optional<Claim>& claim) {
  return claim ? claim_text(claim, exact_number) : "";
}

// From epsilon_rdp to stopped.
std::vector<std::string> privacy_fields(const std::optional<PrivacyClaim>& claim) {
  if (!claim) return {"none", "none", "", "", "", "", "", "", ""};
  return {exact_claim(claim->rdp),
          exact_claim(claim->pld),
          exact_claim(claim->as_if_rdp),
          exact_claim(claim->as_if_pld),
          claim->assumed ? claim->settings.assume : "",
          exact_number(claim->settings.delta),
          claim->unit,
          claim->adjacency,
          claim->stopped};
}

// From examples to downlink_bytes.
std::vector<std::string> cost_fields(const Row& row) {
  return {csv_number(row.examples),
          csv_number(row.gradients),
          csv_number(row.operations),
          !row.operations           ? ""
          : row.operations_at_least ? "true"
                                    : "false",
          exact_number(row.total_uplink_bytes),
          exact_number(row.total_downlink_bytes)};
}

// From accuracy_half_width_95 to metric_half_width_95.
std::vector<std::string> half_width_fields(const Table& table, const Row& row) {
  return {csv_number(row.accuracy_half_width), csv_number(row.rmse_half_width),
          table.metric && row.result ? csv_number(row.result->spread.half_width) : ""};
}

// From published_mean to published_source, in the unit of the other numbers.
std::vector<std::string> published_fields(const Table& table, const Row& row) {
  if (!row.published) return {"", "", "", ""};
  const Published& published = *row.published;
  const double unit = row.result && row.result->share ? 100 : 1;
  return {exact_number(published.mean / unit), published.std ? exact_number(*published.std / unit) : "",
          published.n ? std::to_string(*published.n) : "", table.published_sources[published.source]};
}

// From metric to metric_std; empty where the table has none.
std::vector<std::string> metric_fields(const Table& table, const Row& row) {
  if (!table.metric) return {"", "", ""};
  if (!row.result) return {table.metric->text, "", ""};
  return {table.metric->text, exact_number(row.result->spread.mean), csv_number(row.result->spread.std)};
}

// From trials to trial_seconds; empty where nothing was tuned.
std::vector<std::string> tuning_fields(const Row& row) {
  if (!row.tuning) return {"", "", ""};
  return {std::to_string(row.tuning->trials), std::to_string(row.tuning->examples),
          exact_number(row.tuning->seconds)};
}

}  // namespace

std::string render_csv(const Table& table) {
  std::string text =
      "experiment,dataset,partition,model,label,algorithm,rounds,rounds_done,seeds,accuracy_mean,"
      "accuracy_std,rmse_mean,rmse_std,policy,epsilon_rdp,epsilon_pld,as_if_epsilon_rdp,as_if_epsilon_pld,"
      "assumed,delta,unit,adjacency,stopped,uplink_bytes_per_client_round,downlink_bytes_per_client_round,"
      "seconds,"
      "sweep";
  for (const ClientColumn& what : kClientColumns) text += fmt::format(",{0}_mean,{0}_std", what.key);
  text +=
      ",examples,gradients,operations,operations_at_least,uplink_bytes,downlink_bytes,metric,metric_mean,"
      "metric_std,accuracy_half_width_95,rmse_half_width_95,metric_half_width_95,"
      "published_mean,published_std,published_n,published_source,trials,trial_examples,trial_seconds\n";
  for (const Row& row : table.rows) {
    std::vector<std::string> fields = {row.setting.experiment,
                                       row.setting.dataset,
                                       row.setting.partition,
                                       row.setting.model,
                                       row.label,
                                       row.algorithm,
                                       std::to_string(row.rounds),
                                       rounds_done(row),
                                       std::to_string(row.seeds.size()),
                                       csv_number(row.accuracy_mean),
                                       csv_number(row.accuracy_std),
                                       csv_number(row.rmse_mean),
                                       csv_number(row.rmse_std),
                                       row.policy};
    for (std::string& field : privacy_fields(row.privacy)) fields.push_back(std::move(field));
    for (const double number : {row.uplink_bytes, row.downlink_bytes, row.seconds}) {
      fields.push_back(exact_number(number));
    }
    fields.push_back(sweep_text(row.setting.sweep));
    if (!row.own_sweep.empty())
      fields.back() += (fields.back().empty() ? "" : ", ") + sweep_text(row.own_sweep);
    for (const ClientColumn& what : kClientColumns) {
      const std::optional<Spread> spread = client_spread(row, what);
      fields.push_back(spread ? exact_number(spread->mean) : "");
      fields.push_back(spread ? csv_number(spread->std) : "");
    }
    for (std::string& field : cost_fields(row)) fields.push_back(std::move(field));
    for (std::string& field : metric_fields(table, row)) fields.push_back(std::move(field));
    for (std::string& field : half_width_fields(table, row)) fields.push_back(std::move(field));
    for (std::string& field : published_fields(table, row)) fields.push_back(std::move(field));
    for (std::string& field : tuning_fields(row)) fields.push_back(std::move(field));
    text += csv_line(fields);
  }
  return text;
}

}  // namespace fedarena::results
