// The cells of a table from the rounds and ledgers of its runs, on another way than table.cpp takes.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/audit/privacy_report.hpp"
#include "results/audit/state_privacy.hpp"
#include "results/record/run_directory.hpp"
#include "results/statistics/paired_tests.hpp"
#include "results/table/table.hpp"

namespace fedarena::results {
namespace {

// A cell of the table, seed by seed.
struct Cells {
  std::vector<double> accuracies, errors, uplinks, downlinks, seconds;
  std::vector<double> total_uplinks, total_downlinks, examples, gradients, operations;
  std::map<std::string, std::vector<double>> clients;  // by ClientColumn::key
  std::optional<Claim> rdp, pld;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Of the interval of 95 %.
std::optional<double> half_width_of(const std::vector<double>& values) {
  const std::optional<double> deviation = deviation_of(values);
  if (!deviation) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  return *deviation * students_t_above(0.025, count - 1) / std::sqrt(count);
}

void add_claim(std::optional<Claim>& worst, const std::optional<Claim>& claim) {
  if (!claim) return;
  worst = worst ? worse(*worst, *claim) : *claim;
}

// The last round's accuracies, and the largest means of all rounds; or the last round's errors.
void add_clients(Cells& cells, const std::vector<RoundRecord>& rounds) {
  if (rounds.empty()) return;
  if (rounds.back().client_errors) {
    cells.clients["client_rmse"].push_back(rounds.back().client_errors->rmse_mean);
    cells.clients["client_rmse_worst"].push_back(rounds.back().client_errors->rmse_worst);
  }
  if (!rounds.back().per_client) return;
  double accuracy = 0, macro_f1 = 0;
  for (const RoundRecord& round : rounds) {
    if (!round.per_client) continue;
    accuracy = std::max(accuracy, round.per_client->accuracy_mean);
    macro_f1 = std::max(macro_f1, round.per_client->macro_f1_mean);
  }
  const ClientMetrics& last = *rounds.back().per_client;
  cells.clients["client_accuracy"].push_back(last.accuracy_mean);
  cells.clients["client_accuracy_worst"].push_back(last.accuracy_worst);
  cells.clients["best_client_accuracy"].push_back(accuracy);
  cells.clients["best_client_macro_f1"].push_back(macro_f1);
}

void add_seed(Cells& cells, const std::filesystem::path& path) {
  const RunDirectory run = RunDirectory::open(path);
  double uplink = 0, downlink = 0, client_rounds = 0, seconds = 0;
  const std::vector<RoundRecord> rounds = run.rounds();
  double examples = 0, gradients = 0, operations = 0;
  for (const RoundRecord& round : rounds) {
    examples += static_cast<double>(round.examples);
    gradients += static_cast<double>(round.cost.gradients);
    operations += static_cast<double>(round.cost.operations);
    uplink += static_cast<double>(round.uplink_bytes);
    downlink += static_cast<double>(round.downlink_bytes);
    client_rounds += static_cast<double>(round.clients);
    seconds += round.train_seconds + round.evaluation_seconds;
  }
  cells.uplinks.push_back(client_rounds > 0 ? uplink / client_rounds : 0);
  cells.downlinks.push_back(client_rounds > 0 ? downlink / client_rounds : 0);
  cells.seconds.push_back(seconds);
  cells.total_uplinks.push_back(uplink);
  cells.total_downlinks.push_back(downlink);
  cells.examples.push_back(examples);
  cells.gradients.push_back(gradients);
  cells.operations.push_back(operations);
  if (!rounds.empty() && rounds.back().test_accuracy)
    cells.accuracies.push_back(*rounds.back().test_accuracy);
  else if (!rounds.empty() && rounds.back().test_loss)
    cells.errors.push_back(std::sqrt(2 * *rounds.back().test_loss));
  add_clients(cells, rounds);
  Summary summary = run.summary();
  if (!summary.privacy) return;
  state_privacy(summary, read_ledger(run));
  add_claim(cells.rdp, summary.privacy->rdp);
  add_claim(cells.pld, summary.privacy->pld);
}

// Of one column: its mean, standard deviation and half-width.
void verify_spread(Comparison& compare, const std::string& field, const std::vector<double>& values,
                   std::optional<double> mean, std::optional<double> deviation,
                   std::optional<double> half_width) {
  const std::optional<double> size = values.empty() ? std::nullopt : std::optional(mean_of(values));
  compare.close(field, mean, size);
  compare.close_among(size.value_or(0), field + " deviation", deviation, deviation_of(values));
  compare.close_among(size.value_or(0), field + " half-width", half_width, half_width_of(values));
}

void verify_row(const Row& row, Verification& verification) {
  Cells cells;
  for (const SeedResult& seed : row.seeds) add_seed(cells, seed.path);
  Comparison compare(verification, "table");
  const auto field = [&](const char* column) { return fmt::format("{} {}", row_name(row), column); };
  const auto mean = [](const std::vector<double>& values) {
    return values.empty() ? std::nullopt : std::optional(mean_of(values));
  };
  verify_spread(compare, field("accuracy"), cells.accuracies, row.accuracy_mean, row.accuracy_std,
                row.accuracy_half_width);
  if (row.rmse_mean || !cells.errors.empty()) {
    verify_spread(compare, field("RMSE"), cells.errors, row.rmse_mean, row.rmse_std, row.rmse_half_width);
  }
  for (const ClientColumn& what : kClientColumns) {
    const std::optional<Spread> spread = client_spread(row, what);
    if (!spread) continue;
    verify_spread(compare, field(what.heading), cells.clients[what.key], spread->mean, spread->std,
                  spread->half_width);
  }
  compare.close(field("uplink"), row.uplink_bytes, mean_of(cells.uplinks));
  compare.close(field("downlink"), row.downlink_bytes, mean_of(cells.downlinks));
  compare.close(field("seconds"), row.seconds, mean_of(cells.seconds));
  compare.close(field("total uplink"), row.total_uplink_bytes, mean_of(cells.total_uplinks));
  compare.close(field("total downlink"), row.total_downlink_bytes, mean_of(cells.total_downlinks));
  // Summaries of older programs have no such sums, whatever their rounds say.
  if (row.examples) compare.close(field("examples"), row.examples, mean(cells.examples));
  if (row.gradients) compare.close(field("gradients"), row.gradients, mean(cells.gradients));
  if (row.operations) compare.close(field("operations"), row.operations, mean(cells.operations));
  compare.claim(field("epsilon (RDP)"), row.privacy ? row.privacy->rdp : std::nullopt, cells.rdp);
  compare.claim(field("epsilon (PLD)"), row.privacy ? row.privacy->pld : std::nullopt, cells.pld);
}

}  // namespace

Verification verify_table(std::span<const FoundRun> runs) {
  Verification verification;
  for (const Row& row : make_table(runs).rows) verify_row(row, verification);
  return verification;
}

}  // namespace fedarena::results
