#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/attack_file.hpp"
#include "results/record/record.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {

/// A run with all that is exported of it.
struct ExportedRun {
  std::string name;           ///< its path below the given folders, such as "fedavg-seed-1"; unique
  ResolvedSettings settings;  ///< what its experiment file says
  Summary summary;
  std::vector<RoundRecord> rounds;                ///< at least one
  std::optional<MembershipAttacks> attacks = {};  ///< on its last model
};

struct ExportedRuns {
  std::vector<ExportedRun> runs;  ///< at least one, in natural order of their paths
  std::vector<std::string>
      notes;  ///< one line each: runs that are left out and why, runs that are not finished
};

/// The runs at and below each folder, also unfinished ones. Names are paths below the folder that holds all
/// the given ones, so that they do not change when runs are added. Broken runs, named with file and field,
/// and runs without a round are noted and left out, attacks that cannot be read likewise; an Error when none
/// is left.
ExportedRuns read_exported_runs(std::span<const std::filesystem::path> folders);

/// One number of one round.
struct RoundValue {
  std::string_view measure;  ///< one of `exported_measures`
  std::string_view group;    ///< of measures that belong together: "test", "classes", "clients", ...
  /// The measure, with the class or the algorithm's word where there are several: "class_accuracy_3",
  /// "observed_radius".
  std::string name;
  double number = 0;         ///< may be nan or infinite
  std::string text;          ///< reads back as that number; "nan", "inf", "-inf"; counts have all digits
  bool upper_bound = false;  ///< an epsilon: with fewer digits it is rounded up
};

/// The names of measures, as rounds.jsonl and summary.json have them, in the order of `round_values`.
std::vector<std::string> exported_measures();

/// The measures that a user wants; none: all of them.
using Measures = std::vector<std::string>;

/// What a round of that run says, each number once. What the record lacks has no value: an accuracy of a
/// round that was not evaluated, an epsilon that is not proven. After the last round of a finished run
/// epsilons are those that the run claims, of which some are only computed then, and there is what attacks
/// measured.
std::vector<RoundValue> round_values(const ExportedRun& run, const RoundRecord& round,
                                     const Measures& measures = {});

/// A line a run, round and measure, as comma-separated values below a line of names: run, experiment,
/// dataset, partition, model, every swept key, algorithm, label, seed, state, policy, unit, adjacency, delta,
/// orders, conversion, assumed, public_data, control, round, measure, value; where any run was tuned, also
/// tuning.trials and what was chosen, such as tuning.training.rate, before the algorithm. All but the last
/// three are the same on every line of a run, so that a run and a round name a row once measures are made
/// columns. What is missing is empty; values may be "nan", "inf" and
/// "-inf".
std::string long_csv(std::span<const ExportedRun> runs, const Measures& measures = {});

/// The same as a JSON object a line. What is missing is null; values that JSON cannot hold are the texts
/// "nan", "inf" and "-inf".
std::string long_json_lines(std::span<const ExportedRun> runs, const Measures& measures = {});

}  // namespace fedarena::results
