#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/record/find_runs.hpp"
#include "results/record/run_setup.hpp"
#include "results/record/sweep.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {

/// What rows must share to be compared with each other.
struct Setting {
  std::string experiment;
  std::string dataset;
  std::string partition;
  std::string model;
  Sweep sweep = {};  ///< what a grid gives to all algorithms

  bool operator==(const Setting&) const = default;
};

/// One part of a setting: its name in captions and headings, its key for programs, where it is found, the
/// section of the experiment file that it comes from, and the path that a choice has its name from; empty
/// where the part is not a choice.
struct SettingPart {
  std::string_view name, key;
  std::string Setting::*member;
  std::string_view section, chosen;
};
inline constexpr std::array<SettingPart, 4> kSettingParts = {
    {{"experiment", "experiment", &Setting::experiment, "experiment.name", ""},
     {"data set", "dataset", &Setting::dataset, "data", "data.name"},
     {"partition", "partition", &Setting::partition, "partition", "partition.kind"},
     {"model", "model", &Setting::model, "model", "model.name"}}};

/// Whether that is the key of a part that is a choice, "dirichlet (alpha = 0.1)".
bool is_choice(std::string_view key);

/// The identity of a row: one algorithm entry at one point of a grid.
struct RowKey {
  Setting setting;
  std::string label;
  Sweep own_sweep = {};   ///< what a grid gives to this algorithm alone, by key
  std::size_t place = 0;  ///< `FoundRun::place`

  /// What a grid gives to it, alone or with the others.
  Sweep whole_sweep() const;
};

/// What a sweep gives under a path or key; none where it does not concern it.
std::optional<std::string> swept_value(const Sweep& sweep, const std::string& key);

/// The paths or keys under which not all sweeps give the same, in natural order.
std::vector<std::string> differing_keys(std::span<const Sweep> sweeps);

/// What rows are called: the label, and what a grid gives to this algorithm alone: "fedprox, mu=0.1".
std::string row_name(const RowKey& key);

/// The row to which a run belongs.
RowKey key_of(const Summary& summary);

/// The order in which rows are printed: texts in natural order, values that are numbers as numbers, labels
/// that a user named as they were named.
struct RowOrder {
  bool operator()(const RowKey& left, const RowKey& right) const;
};

/// Whether these settings differ in a part by more than what columns of a sweep tell: of a choice whose name
/// a sweep gives, those of one name among them.
bool part_varies(std::span<const Setting> settings, const SettingPart& part);

/// Finished runs of one row. Points into the runs that it was made of.
struct RowRuns {
  RowKey key;
  std::vector<const FoundRun*> runs = {};  ///< at least one, by seed
  std::string name = {};                   ///< what notes call it beside the other rows

  /// The summary of the first seed, for what all seeds share.
  const Summary& summary() const { return *runs.front()->summary; }
  /// None where the row lacks that seed.
  const FoundRun* of_seed(std::int64_t seed) const;
  /// The seeds of the runs of which that is true, ascending.
  std::vector<std::int64_t> seeds_where(const std::function<bool(const FoundRun&)>& is) const;
  /// The worst claim of the seeds; none under the policy "none". For a row that `check_row` accepts.
  std::optional<PrivacyClaim> privacy() const;
};

/// Takes the summary of each run, with its row.
void for_each_run(std::span<const RowRuns> rows, const auto& take) {
  for (const RowRuns& row : rows) {
    for (const FoundRun* run : row.runs) take(row, *run->summary);
  }
}

/// Seeds by what is to be said of them, in the order in which it came up.
using SeedsByText = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
void add_seed(SeedsByText& seeds, const std::string& text, std::int64_t seed);

/// Runs as rows, in the order of tables.
struct Rows {
  std::vector<RowRuns> rows;
  std::vector<const FoundRun*> unfinished;  ///< in that order, too
  std::vector<const FoundRun*> broken;
};

/// Gathers runs into rows. The order of `runs` does not matter.
Rows gather_rows(std::vector<const FoundRun*> runs);
Rows gather_rows(std::span<const FoundRun> runs);

/// Throws Error, naming both directories, where runs of the row differ in more than the seed, or have the
/// same seed: no mean is taken over different things.
void check_row(const RowRuns& row);

/// What the experiment file of a run says that its summary does not, and that runs of one row must share: the
/// cohort, what is tested and when, the rules that end a run, the type of the weights, and the whole policy
/// of privacy, by "section.key".
std::map<std::string, std::string> row_conditions(const ResolvedSettings& settings);

/// A condition in which two runs differ, and its values.
struct ConditionDifference {
  std::string key, left, right;
};

/// In which of these conditions two runs differ that are no algorithm's own: cohorts, rules that end a run,
/// the type of the weights and canaries, of those that both files have.
std::vector<ConditionDifference> condition_differences(std::map<std::string, std::string> left,
                                                       std::map<std::string, std::string> right);

/// The setting under which `separate_by_settings` tells data of one name apart.
inline constexpr const char* kDataHashPath = "data.sha256";

/// Where an experiment file has the planned rounds, which a grid may give.
inline constexpr const char* kRoundsPath = "experiment.rounds";

/// Leaves out the runs of other labels, and has rows come in the order of these; broken runs stay, so that
/// they are noted. None: keeps all. Error for a label that no finished run has.
void keep_labels(std::vector<FoundRun>& runs, const Labels& labels);

/// Gives runs their own value of what others have from a grid, in `Summary::sweep`, so that they need no dash
/// there; but where they would then fall in one row with runs that they do not fit, such as the same seed run
/// before the grid, they keep theirs. Who has initial weights from a grid gets their digest, too.
void fill_in_swept(std::span<FoundRun> runs);

/// Makes rows of their own of runs that would be one row but for settings, such as those of two folders with
/// two learning rates or two noise multipliers, and tells settings that differ between points of a grid which
/// do not give them: each run gets the settings that differ as if a grid had given them, in `Summary::sweep`,
/// and so do all other runs that have them. Settings are the parameters of the
/// algorithm, `row_conditions`, planned rounds, and the examples of a data set where they were not the same;
/// and what `fill_in_swept` gives. Runs that differ in nothing else than the seed stay as they are.
void separate_by_settings(std::vector<FoundRun>& runs);

/// The runs at and below each path as tables, plots and reports take them: separated by their settings, those
/// of these labels, broken ones beside them.
std::vector<FoundRun> find_table_runs(std::span<const std::filesystem::path> paths,
                                      const Labels& labels = {});

/// Names rows and their settings by those parts in which the given settings differ.
class SettingNames {
 public:
  /// Of what a grid gives, it tells what stands under these keys.
  SettingNames(std::span<const Setting> settings, std::vector<std::string> keys);
  /// By all settings, those of unfinished runs too; it tells all that a grid gives where that differs.
  explicit SettingNames(const Rows& rows);

  /// "data set digits, model mlp"; empty where one setting is all there is.
  std::string of(const Setting& setting) const;
  /// The same for a panel of its own: "no swept setting" of rows that no key of a grid concerns.
  std::string title_of(const Setting& setting) const;
  /// "fedprox, mu=0.1 (model mlp)".
  std::string of(const RowKey& row) const;

 private:
  std::vector<SettingPart> parts_;
  std::vector<std::string> keys_;
};

}  // namespace fedarena::results
