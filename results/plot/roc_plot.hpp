#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/plot/gnuplot.hpp"
#include "results/record/find_runs.hpp"
#include "results/statistics/separation.hpp"

namespace fedarena::results {

/// A curve, and what its legend calls it.
struct NamedRoc {
  std::string name;
  RocCurve curve;
  bool operator==(const NamedRoc&) const = default;
};

struct RocCurves {
  std::vector<NamedRoc> curves;
  std::vector<std::string> notes = {};  ///< runs that are left out because a file of theirs cannot be read
};

/// The characteristics of the membership attacks on finished runs, found at and below `folders`, by the name
/// of their score; where several runs were attacked, the name of the run precedes it. An Error where none
/// was.
RocCurves find_roc_curves(std::span<const FoundRun> runs, std::span<const std::filesystem::path> folders);

/// "0.9731": the area as legends have it.
std::string area_text(const RocCurve& curve);

/// The gnuplot script, with its data, in the look of curves_script(): a line for each curve, the diagonal of
/// chance in grey, the areas in the legend below the data. An Error where there are too many curves.
std::string roc_script(std::span<const NamedRoc> curves, Terminal terminal);

/// The curves as JSON, every point of them, and the notes.
std::string roc_json(const RocCurves& found);

}  // namespace fedarena::results
