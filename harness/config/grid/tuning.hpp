#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/sections/catalog.hpp"
#include "harness/config/sections/read.hpp"

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
std::optional<TuningPlan> read_tuning(const std::filesystem::path& file,
                                      const std::vector<std::string>& overrides, const Catalog& catalog,
                                      const std::optional<std::string>& profile = {});

/// The same for a text; `file_name` is what messages call it.
std::optional<TuningPlan> parse_tuning(std::string_view text, const std::string& file_name,
                                       const std::vector<std::string>& overrides, const Catalog& catalog,
                                       const std::optional<std::string>& profile = {});

}  // namespace fedarena
