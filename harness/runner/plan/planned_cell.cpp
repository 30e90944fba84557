#include "harness/runner/plan/planned_cell.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <utility>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/runner/cell_setup.hpp"

namespace fedarena {
namespace {

// Longer lists of names do not help.
constexpr std::size_t kMostNames = 30;

std::string last_folder(const PlannedCell& cell) {
  return fmt::format("{}-seed-{}", cell.algorithm->label, cell.seed);
}

// What a pattern may stand for, the short ones first.
std::vector<std::string> names_of(const PlannedCell& cell) {
  std::vector<std::string> names{cell.algorithm->label, fmt::format("seed-{}", cell.seed)};
  for (const auto& [path, value] : cell.point->swept) names.push_back(fmt::format("{}={}", path, value));
  names.push_back(cell.point->name);
  names.push_back(last_folder(cell));
  names.push_back(cell.folder().string());
  return names;
}

// A folder is one cell's, whatever else is called so.
bool matches(const PlannedCell& cell, const std::string& pattern, bool is_folder) {
  if (is_folder) return cell.folder() == pattern;
  const std::vector<std::string> names = names_of(cell);
  return std::ranges::any_of(
      names, [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

[[noreturn]] void refuse(const std::vector<PlannedCell>& cells, const std::string& given,
                         const std::string& pattern) {
  std::vector<std::string> known;
  std::string allowed;
  for (const PlannedCell& cell : cells) {
    for (const std::string& name : names_of(cell)) {
      if (name.empty() || contains(known, name)) continue;
      const bool folder = name == cell.folder().string() || name == last_folder(cell);
      if (!folder && known.size() < kMostNames) allowed += (allowed.empty() ? "" : ", ") + name;
      known.push_back(name);
    }
    if (known.size() > 10 * kMostNames) break;
  }
  throw Error::in(
      "--only " + given, "no cell is of that name",
      {.allowed = allowed,
       .nearest = nearest_name(pattern, known),
       .remedy = "patterns take * and ?, and of several each must fit; !PATTERN leaves out what fits"});
}

}  // namespace

std::filesystem::path PlannedCell::folder() const {
  return std::filesystem::path(point->name) / last_folder(*this);
}

bool PlannedCell::may_end_early() const {
  const Stopping& rule = point->experiment.stopping;
  return has_budget(policy_of(*algorithm)) || rule.target_accuracy > 0 || rule.patience > 0;
}

std::string PlannedCell::name() const {
  return fmt::format("{}{}{}, seed {}", point->name, point->name.empty() ? "" : ", ", algorithm->label, seed);
}

Experiment PlannedCell::experiment() const {
  Experiment one = point->experiment;
  one.seeds = {seed};
  one.algorithms = {*algorithm};
  return one;
}

std::vector<PlannedCell> plan_cells(std::vector<GridPoint> points, const std::vector<std::string>& only) {
  const auto grid = std::make_shared<const std::vector<GridPoint>>(std::move(points));
  std::vector<PlannedCell> cells;
  // Seeds are not a dimension of a sweep, so that all points have the same.
  for (const std::int64_t seed : grid->front().experiment.seeds) {
    for (const GridPoint& point : *grid) {
      for (const AlgorithmEntry& algorithm : point.experiment.algorithms)
        cells.push_back({{grid, &point}, &algorithm, seed});
    }
  }
  for (const std::string& given : only) {
    const bool leaves_out = given.starts_with('!');
    const std::string pattern = given.substr(leaves_out ? 1 : 0);
    const bool is_folder =
        std::ranges::any_of(cells, [&](const PlannedCell& cell) { return cell.folder() == pattern; });
    const auto fits = [&](const PlannedCell& cell) { return matches(cell, pattern, is_folder); };
    if (std::ranges::none_of(cells, fits)) refuse(cells, given, pattern);
    std::erase_if(cells, [&](const PlannedCell& cell) { return fits(cell) == leaves_out; });
    if (cells.empty()) throw Error::in("--only " + given, "leaves out every cell");
  }
  return cells;
}

PlannedCell recorded_cell(const config::Document& file, const Catalog& catalog,
                          const std::vector<std::string>& overrides) {
  return plan_cells(read_grid(file, overrides, catalog)).front();
}

}  // namespace fedarena
