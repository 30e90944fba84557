#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  double accuracy = 0;  ///< of the last round, a fraction
  double loss = 0;      ///< of the last round; may be nan or infinite
  double seconds = 0;
  double uplink_bytes = 0;    ///< per client and round
  double downlink_bytes = 0;  ///< per client and round
};

/// One algorithm entry over its seeds.
struct Row {
  Setting setting;
  std::string label;
  std::string algorithm;
  std::int64_t rounds = 0;
  std::vector<SeedResult> seeds;       ///< at least one, ascending
  double accuracy_mean = 0;            ///< over seeds
  std::optional<double> accuracy_std;  ///< sample standard deviation over seeds; none for one seed
  std::string privacy;                 ///< the policy
  std::optional<double> epsilon;       ///< the largest over seeds; none under the policy "none"
  double uplink_bytes = 0;             ///< per client and round, mean over seeds
  double downlink_bytes = 0;           ///< per client and round, mean over seeds
  double seconds = 0;                  ///< per run, mean over seeds
  bool best = false;  ///< the best accuracy of its setting, as printed, where rows may be compared
};

/// The table of a paper: rows in natural order of setting and label, and what a reader must know besides.
struct Table {
  std::vector<Row> rows;
  std::vector<std::string>
      notes;  ///< one line each: data notes, unequal seeds, runs that are not counted and why
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

/// What the columns mean, for readers of Markdown and LaTeX.
std::string legend();

}  // namespace fedarena::results
