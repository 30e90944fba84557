#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// What a run has spent after a round: the horizontal axis.
struct CurveAxis {
  std::string_view name;     ///< as the command line has it
  std::string_view heading;  ///< with its unit
  std::string_view words;    ///< to begin a legend: "Floating-point operations"
  /// Of one round; none where the record lacks it.
  std::optional<double> (*of_round)(const RoundRecord&);
  bool summed = false;   ///< over all rounds so far
  bool largest = false;  ///< the largest over seeds counts, as of upper bounds; otherwise the mean
};

/// What may be the horizontal axis. Names that columns of tables have as well mean the same.
std::span<const CurveAxis> curve_axes();

/// The positions of the rounds, summed where the axis is. Sums end where a round does not say.
std::vector<std::optional<double>> positions_on(const CurveAxis& axis, std::span<const RoundRecord> rounds);

}  // namespace fedarena::results
