// The cells of a table from the rounds and ledgers of its runs, on another way than table.cpp takes.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/audit/privacy_report.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/statistics/paired_tests.hpp"
#include "results/table/notes.hpp"
#include "results/table/rows.hpp"
#include "results/table/table.hpp"

namespace fedarena::results {
namespace {

// The columns of a row, seed by seed.
struct Cells {
  std::map<std::string, std::vector<double>> values;  // by heading, of clients by CatalogueEntry::column
  std::optional<Claim> rdp, pld;

  void add(const std::string& column, double value) { values[column].push_back(value); }
};

constexpr const char* kEpsilonAtLeast = "epsilon >=";

std::string attack_column(const std::string& score, const AttackMeasure& measure) {
  return fmt::format("{}, {}", score, measure.heading);
}

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = *mean_of(values);
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
  if (const std::optional<ClientErrors>& errors = rounds.back().client_errors) {
    cells.add("client_rmse", errors->rmse_mean);
    cells.add("client_rmse_worst", errors->rmse_worst);
  }
  const std::optional<ClientMetrics>& last = rounds.back().per_client;
  if (!last) return;
  double accuracy = 0, macro_f1 = 0;
  for (const RoundRecord& round : rounds) {
    if (!round.per_client) continue;
    accuracy = std::max(accuracy, round.per_client->accuracy_mean);
    macro_f1 = std::max(macro_f1, round.per_client->macro_f1_mean);
  }
  cells.add("client_accuracy", last->accuracy_mean);
  cells.add("client_accuracy_worst", last->accuracy_worst);
  cells.add("best_client_accuracy", accuracy);
  cells.add("best_client_macro_f1", macro_f1);
}

void add_seed(Cells& cells, const std::filesystem::path& path) {
  const RunDirectory run = RunDirectory::open(path);
  const std::vector<RoundRecord> rounds = run.rounds();
  const auto sum = [&](const auto& value_of) {
    double total = 0;
    for (const RoundRecord& round : rounds) total += static_cast<double>(value_of(round));
    return total;
  };
  const double uplink = sum([](const RoundRecord& round) { return round.uplink_bytes; });
  const double downlink = sum([](const RoundRecord& round) { return round.downlink_bytes; });
  const double client_rounds = sum([](const RoundRecord& round) { return round.clients; });
  const Summary& told = run.summary();
  if (client_rounds > 0) {
    cells.add("uplink", uplink / client_rounds);
    cells.add("downlink", downlink / client_rounds);
  } else if (told.uplink_bytes_per_client_round > 0) {
    // Of secret cohorts that nobody was in: as declared, which no round tells.
    cells.add("uplink", told.uplink_bytes_per_client_round);
    cells.add("downlink", told.downlink_bytes_per_client_round);
  }
  cells.add("total uplink", uplink);
  cells.add("total downlink", downlink);
  cells.add("seconds",
            sum([](const RoundRecord& round) { return round.train_seconds + round.evaluation_seconds; }));
  cells.add("examples", sum([](const RoundRecord& round) { return round.examples; }));
  cells.add("gradients", sum([](const RoundRecord& round) { return round.cost.gradients; }));
  cells.add("operations", sum([](const RoundRecord& round) { return round.cost.operations; }));
  if (!rounds.empty()) {
    const RoundRecord& last = rounds.back();
    if (last.test_accuracy)
      cells.add("accuracy", *last.test_accuracy);
    else if (last.test_loss)
      cells.add("RMSE", 2 * std::sqrt(*last.test_loss / 2));
    add_clients(cells, rounds);
  }
  if (const std::optional<MembershipAttacks> attacks = read_attacks(path)) {
    for (const MembershipAttack& attack : attacks->attacks) {
      for (const AttackMeasure& measure : attack_measures())
        cells.add(attack_column(attack.score, measure), attack.separation.*measure.of_attack);
    }
  }
  Summary summary = run.summary();
  if (summary.audit) cells.add(kEpsilonAtLeast, summary.audit->lower_bound);
  if (!summary.privacy) return;
  const Ledger ledger = read_ledger(path);
  if (name(ledger.unit()) != summary.policy) return;  // which is told of the run
  compute_claim(summary, ledger);
  add_claim(cells.rdp, summary.privacy->rdp);
  add_claim(cells.pld, summary.privacy->pld);
}

void verify_row(const Row& row, Verification& verification) {
  Cells cells;
  for (const SeedResult& seed : row.seeds) add_seed(cells, seed.path);
  Comparison compare(verification, "table");
  const auto field = [&](std::string_view column) { return fmt::format("{} {}", row_name(row), column); };
  // Mean, standard deviation and half-width of one column.
  const auto verify_spread = [&](std::string_view heading, std::string_view column,
                                 const std::optional<Spread>& spread) {
    const std::vector<double>& values = cells.values[std::string(column)];
    const double size = mean_of(values).value_or(0);
    const Spread known = spread.value_or(Spread{});
    compare.close(field(heading), spread ? std::optional(known.mean) : std::nullopt, mean_of(values));
    compare.close_among(size, field(heading) + " deviation", known.std, deviation_of(values));
    compare.close_among(size, field(heading) + " half-width", known.half_width, half_width_of(values));
  };
  verify_spread("accuracy", "accuracy", row.accuracy());
  if (row.rmse() || cells.values.contains("RMSE")) verify_spread("RMSE", "RMSE", row.rmse());
  for (const CatalogueEntry* column : client_columns()) {
    if (const auto spread = row.clients(column)) verify_spread(column->heading, column->column, spread);
  }
  if (row.epsilon_at_least) verify_spread(kEpsilonAtLeast, kEpsilonAtLeast, row.epsilon_at_least);
  for (const auto& [score, unused] : row.seeds.front().attacks) {
    for (const AttackMeasure& measure : attack_measures()) {
      const std::string column = attack_column(score, measure);
      if (const auto spread = row.attacked(score, measure)) verify_spread(column, column, spread);
    }
  }
  const auto verify_mean = [&](const char* column, std::optional<double> mean) {
    compare.close(field(column), mean, mean_of(cells.values[column]));
  };
  const bool secret =
      is_secret(DrawnSizes::kCohorts, row.privacy);  // as far as summaries tell, which are verified
  if (row.uplink_bytes || !secret) verify_mean("uplink", row.uplink_bytes);
  if (row.downlink_bytes || !secret) verify_mean("downlink", row.downlink_bytes);
  if (row.total_uplink_bytes) verify_mean("total uplink", row.total_uplink_bytes);
  if (row.total_downlink_bytes) verify_mean("total downlink", row.total_downlink_bytes);
  if (row.seconds) verify_mean("seconds", row.seconds);
  if (row.examples) verify_mean("examples", row.examples);
  if (row.gradients) verify_mean("gradients", row.gradients);
  if (row.operations) verify_mean("operations", row.operations);
  compare.claim(field("epsilon (RDP)"), row.privacy ? row.privacy->rdp : std::nullopt, cells.rdp);
  compare.claim(field("epsilon (PLD)"), row.privacy ? row.privacy->pld : std::nullopt, cells.pld);
}

}  // namespace

Verification verify_common_data(std::span<const FoundRun> runs) {
  Verification verification;
  std::map<std::pair<std::string, std::string>, const FoundRun*> first;
  std::map<std::tuple<std::string, std::string, std::string>, const FoundRun*> first_seed;
  for (const FoundRun& run : runs) {
    if (!run.summary) continue;
    const Summary& summary = *run.summary;
    Comparison compare(verification, run.path / kSummaryFile);
    const auto same = [&](const char* field, const auto& value, const auto& known_value,
                          const FoundRun& before) {
      compare.result(value == known_value, field, value,
                     fmt::format("{}, as {} has it", known_value, before.path.string()));
    };
    // Trials choose once for all seeds of an algorithm.
    const FoundRun& tuned =
        *first_seed.try_emplace({run.path.parent_path().string(), summary.experiment, summary.label}, &run)
             .first->second;
    if (&tuned != &run)
      same("tuning", search_text(summary.tuning), search_text(tuned.summary->tuning), tuned);
    const auto [known, is_first] = first.try_emplace({summary.experiment, summary.dataset}, &run);
    if (is_first) continue;
    const FoundRun& before = *known->second;
    const Summary& other = *before.summary;
    same("data_hash", summary.data_hash, other.data_hash, before);
    same("dataset_note", summary.dataset_note, other.dataset_note, before);
    if (summary.model == other.model) same("parameters", summary.parameters, other.parameters, before);
  }
  return verification;
}

Verification verify_table(std::span<const FoundRun> runs) {
  Verification verification;
  std::vector<FoundRun> separated(runs.begin(), runs.end());
  separate_by_settings(separated);  // as the command prints them
  for (const Row& row : make_table(separated).rows) verify_row(row, verification);
  return verification;
}

}  // namespace fedarena::results
