#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/measures/round_metric.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/test_metrics.hpp"
#include "results/record/tuning.hpp"
#include "results/statistics/statistics.hpp"
#include "results/table/published.hpp"
#include "results/table/rows.hpp"

namespace fedarena::results {

/// What a row says of its clients, over seeds: the first four, or on regression data the others.
struct ClientColumns {
  std::optional<Spread> accuracy = {}, worst = {};               ///< after the last round
  std::optional<Spread> best_accuracy = {}, best_macro_f1 = {};  ///< of the best rounds
  std::optional<Spread> rmse = {}, worst_rmse = {};              ///< after the last round
};

/// One of them: its heading for readers, its key for programs.
struct ClientColumn {
  const char* heading;
  const char* key;
  std::optional<Spread> ClientColumns::*member;
  bool share;  ///< whether it is a fraction, shown in percent
};
inline constexpr std::array<ClientColumn, 6> kClientColumns = {
    {{"clients (%)", "client_accuracy", &ClientColumns::accuracy, true},
     {"worst client (%)", "client_accuracy_worst", &ClientColumns::worst, true},
     {"BMTA (%)", "best_client_accuracy", &ClientColumns::best_accuracy, true},
     {"BMT-F1 (%)", "best_client_macro_f1", &ClientColumns::best_macro_f1, true},
     {"clients (RMSE)", "client_rmse", &ClientColumns::rmse, false},
     {"worst client (RMSE)", "client_rmse_worst", &ClientColumns::worst_rmse, false}}};

/// One finished run of a row.
struct SeedResult {
  std::int64_t seed = 0;
  std::filesystem::path path;
  std::int64_t rounds_done = 0;    ///< fewer than planned where the budget stopped the run
  std::optional<double> accuracy;  ///< of the last round, a fraction; none on regression data
  double loss = 0;                 ///< of the last round; may be nan or infinite
  double seconds = 0;
  double uplink_bytes = 0;    ///< per client and round
  double downlink_bytes = 0;  ///< per client and round
  /// In total; none where they would tell how many clients were drawn, which privacy keeps secret.
  std::optional<std::int64_t> uplink_bytes_of_run, downlink_bytes_of_run;
  std::optional<PrivacyClaim> privacy;  ///< none under the policy "none"
  /// Gradients of clients' examples, and all that the run cost; none in older records, and where sizes of
  /// batches or cohorts are secret.
  std::optional<std::int64_t> examples;
  std::optional<Cost> cost;
  std::optional<double> metric = {};  ///< the metric of the table; none without one
  std::int64_t metric_round = 0;      ///< where it was read; 0 without a value
};

/// The number by which rows are compared, over seeds.
struct Result {
  Spread spread;
  bool share = true;  ///< a fraction, shown in percent
  Better better = Better::kMore;
};

/// One algorithm entry at one point of a grid over its seeds.
struct Row : RowKey {
  std::string algorithm;
  std::vector<std::pair<std::string, std::string>> algorithm_parameters;
  std::int64_t rounds = 0;              ///< planned
  std::int64_t clients = 0;             ///< in the federation
  std::int64_t parameters = 0;          ///< numbers in the model
  std::vector<SeedResult> seeds;        ///< at least one, ascending
  std::optional<double> accuracy_mean;  ///< over seeds; none on regression data
  std::optional<double> accuracy_std;   ///< sample standard deviation over seeds; none for one seed
  std::optional<double> rmse_mean;      ///< root mean squared error over seeds; on regression data alone
  std::optional<double> rmse_std;       ///< sample standard deviation over seeds; none for one seed
  /// Of the 95 % intervals of those means; none for one seed.
  std::optional<double> accuracy_half_width = {}, rmse_half_width = {};
  std::optional<ClientColumns> clients_tested;  ///< none unless every seed tested clients
  std::string policy;                           ///< of privacy
  std::optional<PrivacyClaim> privacy;          ///< the worst over seeds; none under the policy "none"
  std::optional<Spread> epsilon_at_least;       ///< lower bounds of the seeds' audits; none without canaries
  bool control = false;                         ///< of an audit: without noise
  double uplink_bytes = 0;                      ///< per client and round, mean over seeds
  double downlink_bytes = 0;                    ///< per client and round, mean over seeds
  double seconds = 0;                           ///< per run, mean over seeds
  std::optional<double> total_uplink_bytes, total_downlink_bytes;  ///< per run, mean over seeds
  /// Per run, mean over seeds, as `Summary::examples` and `Cost` have it; none unless every seed does.
  std::optional<double> examples, gradients, operations;
  bool operations_at_least = false;  ///< whether any seed's operations are a lower bound
  /// Accuracy, RMSE, or the table's metric; none where a seed lacks the latter.
  std::optional<Result> result;
  std::optional<Published> published = {};  ///< what others published of it; `add_published` sets it
  std::optional<Tuning> tuning = {};  ///< how the settings were chosen; none unless every seed has the same
  bool best = false;  ///< the best result of its setting, as printed, where rows may be compared
};

/// The table of a paper: rows in natural order of setting and label, and what a reader must know besides.
struct Table {
  std::optional<RoundMetric>
      metric;  ///< what rows are compared by; none: accuracy, or RMSE, of the last round
  PlusMinus plus_minus = PlusMinus::kDeviation;     ///< what readers see behind "±"
  std::vector<std::string> published_sources = {};  ///< by `Published::source`
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< one line each: data notes, what limits a claim of privacy, unequal
                                   ///< seeds, runs that are not counted and why
};

/// Makes the table of the finished runs, a line for each of their rows. Unfinished and broken runs are noted,
/// not counted. What `check_row` refuses is an Error. The order of `runs` does not matter. A metric is read
/// from the rounds of every run. With half-widths, a note names the rows of one seed, which have no interval.
Table make_table(std::span<const FoundRun> runs, const std::optional<RoundMetric>& metric = {},
                 PlusMinus plus_minus = PlusMinus::kDeviation);

/// Whether the rows differ in this part of their settings by more than what columns of a sweep tell, so that
/// it needs a column.
bool varies(const Table& table, const SettingPart& part);

/// What the sweeps of all rows give, in natural order: the paths or keys in which rows differ. Each needs a
/// column.
std::vector<std::string> swept_keys(const Table& table);

/// The value of a row at such a path or key; none where the sweep does not concern it.
std::optional<std::string> swept_value(const Row& row, const std::string& key);

/// The parts of the setting that all rows share, as "Experiment quickstart, data set digits", and of those
/// that a sweep tells apart what is common; empty without any.
std::string caption(const Table& table);

/// Whether any row has an accuracy, and whether any has a root mean squared error instead.
bool any_accuracy(const Table& table);
bool any_regression(const Table& table);

/// What the row says of its clients in one respect; none where it does not.
std::optional<Spread> client_spread(const Row& row, const ClientColumn& what);

/// Whether any row tells of its clients.
bool any_clients_tested(const Table& table);

/// What rows can say of their clients: accuracies, errors where data are for regression, or both.
std::vector<ClientColumn> client_columns_of(const Table& table);

/// Whether any row claims privacy, so that the table says which and how much.
bool any_private(const Table& table);

/// Whether any row was audited by canaries.
bool any_audited(const Table& table);

/// Whether any row has a published figure beside its own.
bool any_published(const Table& table);

/// The rounds that the runs of a row did: "20", or "14-15" where their budgets stopped them at different
/// ones.
std::string rounds_done(const Row& row);

}  // namespace fedarena::results
