#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/config/grid/grid.hpp"
#include "results/record/sweep.hpp"

namespace fedarena {

/// One cell of a grid: an algorithm with one seed at one point.
struct PlannedCell {
  std::shared_ptr<const GridPoint> point = {};
  const AlgorithmEntry* algorithm = nullptr;  ///< of the point's experiment, one for all seeds
  std::int64_t seed = 0;
  std::optional<results::Tuning> tuning = {};  ///< what chose the settings, if anything did
  bool has_found_noise = false;                ///< whether its noise is what noise_for_epsilon came to

  /// The run directory below the experiment's: "fedavg-seed-1", below the point's where there is a sweep.
  std::filesystem::path folder() const;
  /// For people: "partition.alpha=0.1, fedavg, seed 1".
  std::string name() const;
  /// Whether a budget or a rule of [stopping] may end it before its last round.
  bool may_end_early() const;
  /// The cell as an experiment of its own.
  Experiment experiment() const;
};

/// The cells of all points: seeds outside, algorithms inside. `only`: patterns with * and ?, all of which a
/// cell must match, each by its folder, the last part of it, its point, a setting of the sweep, its label or
/// its seed ("seed-1"); cells that match "!" and a pattern are left out. Throws Error when no cell is left.
std::vector<PlannedCell> plan_cells(std::vector<GridPoint> points, const std::vector<std::string>& only = {});

/// The one cell of a run's own experiment file.
PlannedCell recorded_cell(const config::Document& file, const Catalog& catalog,
                          const std::vector<std::string>& overrides = {});

}  // namespace fedarena
