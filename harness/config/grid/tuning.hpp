#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/config/grid/grid.hpp"

namespace fedarena {

/// The trials that a file's [tuning] asks for. Each is an experiment of its own, under a seed of its own.
struct TuningPlan {
  std::string search;             ///< "grid" or "random"
  std::int64_t seed = 0;          ///< that of the trials and of what is drawn at random
  std::int64_t trials = 0;        ///< of every algorithm, at least 1
  std::vector<GridPoint> points;  ///< every algorithm stands at so many of them
  bool operator==(const TuningPlan&) const = default;
};

/// Reads the [tuning] of an experiment file, for a profile and with overrides as `read_grid` does; nothing
/// when it has none. Every trial is a valid experiment. Throws Error, also where algorithms would get unequal
/// numbers of trials, where a value would change what is compared (data, model, rounds, privacy other than
/// clip norms), and where no validation examples are held out to choose by.
std::optional<TuningPlan> read_tuning(const config::Document& file, const std::vector<std::string>& overrides,
                                      const Catalog& catalog, const std::optional<std::string>& profile = {});

}  // namespace fedarena
