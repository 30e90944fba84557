#pragma once

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

/// The options of sbatch that the file's [slurm] gives, as `read_grid` reads the rest; "": without a value.
std::vector<std::pair<std::string, std::string>> read_sbatch_options(
    const config::Document& file, const std::vector<std::string>& overrides, const Catalog& catalog,
    const std::optional<std::string>& profile = {});

}  // namespace fedarena
