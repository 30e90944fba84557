#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// One point of a characteristic, over seeds.
struct RocPoint {
  double false_positive_rate = 0;
  double true_positive_rate = 0;   ///< mean
  std::optional<double> std = {};  ///< sample standard deviation; none for one seed

  bool operator==(const RocPoint&) const = default;
};

/// A row of the table.
struct RocLine {
  std::string name;
  std::vector<std::int64_t> seeds;      ///< of the runs that have a curve
  double area = 0;                      ///< mean
  std::optional<double> area_std = {};  ///< sample standard deviation; none for one seed
  std::vector<RocPoint> points;         ///< (0, 0), then one for each rate of RocRates
};

/// Those that may be compared with each other: of one setting.
struct RocPanel {
  std::string title;  ///< in what its setting differs from the others'; empty for a single panel
  std::vector<RocLine> lines;
};

struct RocPlot {
  std::optional<std::int64_t> of_class;  ///< none: the macro average over classes
  std::string title;                     ///< what all panels share
  std::vector<RocPanel> panels;
  std::vector<std::string> notes;  ///< one line each: those of the table, and runs that are left out and why
};

/// Which characteristic it is: "class 3 against the rest".
std::string describe(const RocPlot& plot);

/// "0.9731 ± 0.0024", without a spread for one seed.
std::string area_text(const RocLine& line);

/// The characteristics of finished runs after their last round, a panel for each setting and a line for each
/// row of their table. Runs without one (of regression data, older, diverged, without such a class) are left
/// out and noted. An Error where nothing is left to draw, or runs cannot be read or be one row.
RocPlot make_roc_plot(std::span<const FoundRun> runs, std::optional<std::int64_t> of_class);

/// The numbers of the plot as JSON: panels, curves, points, and the notes.
std::string roc_json(const RocPlot& plot);

}  // namespace fedarena::results
