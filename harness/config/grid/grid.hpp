#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/sections/experiment.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena {

/// One point of the grid that a file's [sweep] spans, and the algorithms that are run there.
struct GridPoint {
  std::string name;  ///< such as "partition.alpha=0.1", safe as a folder name; empty without a sweep
  /// What the sweep gives here, by path: {"partition.alpha", "0.1"}.
  std::vector<std::pair<std::string, std::string>> swept;
  Experiment experiment;  ///< complete, with these algorithms alone
  /// The policies of all algorithms of the file, also of those at other points, without "none" and one of
  /// each kind that hides the same: what one of them hides is told at no point.
  std::vector<Choice> policies = {};
  bool operator==(const GridPoint&) const = default;
};

/// The trials that a file's [tuning] asks for. Each is an experiment of its own, under a seed of its own.
struct TuningPlan {
  std::string search;             ///< "grid" or "random"
  std::int64_t seed = 0;          ///< that of the trials and of what is drawn at random
  std::int64_t trials = 0;        ///< of every algorithm, at least 1
  std::vector<GridPoint> points;  ///< every algorithm stands at so many of them
  bool operator==(const TuningPlan&) const = default;
};

/// Reads an experiment file with its [sweep]: every combination of its values, each checked, in the order of
/// the file with the last entry changing fastest. A file without a sweep is one point. An algorithm stands at
/// the points that make a difference for it: a sweep of another algorithm's settings, of training settings
/// that it has not or gives itself, or of a policy that it does not have, does not repeat it. A profile's
/// entries go over what the file says, and "-NAME" is appended to the experiment's name. The file must be
/// valid under each of its profiles. Each override is "section.key=value" (or "algorithms.LABEL.key=value")
/// with a value as TOML writes it, a bare word counting as a string; they replace what file and profile say,
/// and the last one wins. Throws Error, with the place of the first mistake: file:line:column, or the
/// override; also for more than 1000 points.
std::vector<GridPoint> read_grid(const config::Document& file, const std::vector<std::string>& overrides,
                                 const Catalog& catalog, const std::optional<std::string>& profile = {});

/// All that an experiment file says.
struct FilePlan {
  std::vector<GridPoint> points;     ///< as of `read_grid`
  std::optional<TuningPlan> tuning;  ///< nothing without a [tuning]
  /// The options of sbatch in [slurm]; "": without a value.
  std::vector<std::pair<std::string, std::string>> sbatch_options;
};

/// Reads the file as `read_grid` does, and its [tuning], of which every trial is a valid experiment. Throws
/// Error, also where algorithms would get unequal numbers of trials, where a value would change what is
/// compared (data, model, rounds, privacy other than clip norms), and where no validation examples are held
/// out to choose by.
FilePlan read_plan(const config::Document& file, const std::vector<std::string>& overrides,
                   const Catalog& catalog, const std::optional<std::string>& profile = {});

}  // namespace fedarena
