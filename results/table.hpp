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

#include "results/find_runs.hpp"

namespace fedarena::results {

/// What rows must share to be compared with each other.
struct Setting {
  std::string experiment;
  std::string dataset;
  std::string partition;
  std::string model;

  bool operator==(const Setting&) const = default;
};

/// One part of a setting: its name in captions and headings, and where it is found.
struct SettingPart {
  std::string_view name;
  std::string Setting::*member;
};
inline constexpr std::array<SettingPart, 4> kSettingParts = {{{"experiment", &Setting::experiment},
                                                              {"data set", &Setting::dataset},
                                                              {"partition", &Setting::partition},
                                                              {"model", &Setting::model}}};

/// One finished run of a row.
struct SeedResult {
  std::int64_t seed = 0;
  std::filesystem::path path;
  std::int64_t rounds_done = 0;    ///< fewer than planned where the budget stopped the run
  std::optional<double> accuracy;  ///< of the last round, a fraction; none on regression data
  double loss = 0;                 ///< of the last round; may be nan or infinite
  double seconds = 0;
  double uplink_bytes = 0;                 ///< per client and round
  double downlink_bytes = 0;               ///< per client and round
  std::int64_t uplink_bytes_of_run = 0;    ///< in total
  std::int64_t downlink_bytes_of_run = 0;  ///< in total
  std::optional<PrivacyClaim> privacy;     ///< none under the policy "none"
};

/// One algorithm entry over its seeds.
struct Row {
  Setting setting;
  std::string label;
  std::string algorithm;
  std::vector<std::pair<std::string, std::string>> algorithm_parameters;
  std::int64_t rounds = 0;              ///< planned
  std::int64_t clients = 0;             ///< in the federation
  std::int64_t parameters = 0;          ///< numbers in the model
  std::vector<SeedResult> seeds;        ///< at least one, ascending
  std::optional<double> accuracy_mean;  ///< over seeds; none on regression data
  std::optional<double> accuracy_std;   ///< sample standard deviation over seeds; none for one seed
  std::string policy;                   ///< of privacy
  std::optional<PrivacyClaim> privacy;  ///< the worst over seeds; none under the policy "none"
  double uplink_bytes = 0;              ///< per client and round, mean over seeds
  double downlink_bytes = 0;            ///< per client and round, mean over seeds
  double seconds = 0;                   ///< per run, mean over seeds
  bool best = false;  ///< the best accuracy of its setting, as printed, where rows may be compared
};

/// The table of a paper: rows in natural order of setting and label, and what a reader must know besides.
struct Table {
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< one line each: data notes, what limits a claim of privacy, unequal
                                   ///< seeds, runs that are not counted and why
};

/// Gathers finished runs into rows, one for each (setting, label). Unfinished and broken runs are noted, not
/// counted. Runs of one row that differ in more than the seed, or have the same seed, are an Error that names
/// both directories. The order of `runs` does not matter.
Table make_table(std::span<const FoundRun> runs);

/// Whether the rows differ in this part of their settings, so that it needs a column.
bool varies(const Table& table, const SettingPart& part);

/// The parts of the setting that all rows share, as "Experiment quickstart, data set digits"; empty without
/// any.
std::string caption(const Table& table);

/// Whether any row claims privacy, so that the table says which and how much.
bool any_private(const Table& table);

/// The rounds that the runs of a row did: "20", or "14-15" where their budgets stopped them at different
/// ones.
std::string rounds_done(const Row& row);

/// What the columns mean, for readers of Markdown and LaTeX.
std::string legend(const Table& table);

}  // namespace fedarena::results
