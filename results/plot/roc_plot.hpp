#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results/plot/gnuplot.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/roc_file.hpp"

namespace fedarena::results {

struct RocCurves {
  std::vector<NamedRoc> curves;
  std::vector<std::string> notes = {};  ///< runs that are left out because a file of theirs cannot be read
};

/// The characteristics of the finished runs that hold some, found at and below `folders`; where several do,
/// the name of the run precedes that of a curve. An Error where there is none.
RocCurves find_roc_curves(std::span<const FoundRun> runs, std::span<const std::filesystem::path> folders);

/// "0.9731": the area as legends have it.
std::string area_text(const RocCurve& curve);

/// The gnuplot script, with its data, in the look of curves_script(): a line for each curve, the diagonal of
/// chance in grey, the areas in the legend below the data. An Error where there are too many curves.
std::string roc_script(std::span<const NamedRoc> curves, Terminal terminal);

/// The curves as JSON, every point of them, and the notes.
std::string roc_json(const RocCurves& found);

}  // namespace fedarena::results
