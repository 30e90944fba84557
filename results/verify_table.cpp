// The cells of a table from the rounds and ledgers of its runs, on another way than table.cpp takes.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "results/comparison.hpp"
#include "results/privacy_report.hpp"
#include "results/run_directory.hpp"
#include "results/state_privacy.hpp"
#include "results/table.hpp"

namespace fedarena::results {
namespace {

// A cell of the table, seed by seed.
struct Cells {
  std::vector<double> accuracies, uplinks, downlinks, seconds;
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

void add_claim(std::optional<Claim>& worst, const std::optional<Claim>& claim) {
  if (!claim) return;
  worst = worst ? worse(*worst, *claim) : *claim;
}

void add_seed(Cells& cells, const std::filesystem::path& path) {
  const RunDirectory run = RunDirectory::open(path);
  double uplink = 0, downlink = 0, client_rounds = 0, seconds = 0;
  const std::vector<RoundRecord> rounds = run.rounds();
  for (const RoundRecord& round : rounds) {
    uplink += static_cast<double>(round.uplink_bytes);
    downlink += static_cast<double>(round.downlink_bytes);
    client_rounds += static_cast<double>(round.clients);
    seconds += round.train_seconds + round.evaluation_seconds;
  }
  cells.uplinks.push_back(client_rounds > 0 ? uplink / client_rounds : 0);
  cells.downlinks.push_back(client_rounds > 0 ? downlink / client_rounds : 0);
  cells.seconds.push_back(seconds);
  if (!rounds.empty() && rounds.back().test_accuracy)
    cells.accuracies.push_back(*rounds.back().test_accuracy);
  Summary summary = run.summary();
  if (!summary.privacy) return;
  state_privacy(summary, read_ledger(run));
  add_claim(cells.rdp, summary.privacy->rdp);
  add_claim(cells.pld, summary.privacy->pld);
}

void verify_row(const Row& row, Verification& verification) {
  Cells cells;
  for (const SeedResult& seed : row.seeds) add_seed(cells, seed.path);
  Comparison compare(verification, "table");
  const auto field = [&](const char* column) { return fmt::format("{} {}", row.label, column); };
  const bool accurate = !cells.accuracies.empty();
  compare.close(field("accuracy"), row.accuracy_mean,
                accurate ? std::optional(mean_of(cells.accuracies)) : std::nullopt);
  compare.close(field("accuracy deviation"), row.accuracy_std, deviation_of(cells.accuracies));
  compare.close(field("uplink"), row.uplink_bytes, mean_of(cells.uplinks));
  compare.close(field("downlink"), row.downlink_bytes, mean_of(cells.downlinks));
  compare.close(field("seconds"), row.seconds, mean_of(cells.seconds));
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
