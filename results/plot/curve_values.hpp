#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/measures/curve_axis.hpp"
#include "results/measures/quantity.hpp"

namespace fedarena::results {

/// What can be drawn of a run, one entry a round: none where a round does not say, and for what is infinite
/// or no number.
using DrawnValues = std::vector<std::optional<double>>;

/// The positions of the rounds on an axis. Sums end where a round does not say.
DrawnValues axis_values(const CurveAxis& axis, std::span<const RoundRecord> rounds);

/// A quantity after the rounds, in percent where it is a share.
DrawnValues quantity_values(const Quantity& quantity, std::span<const RoundRecord> rounds);

/// The one position of a round of several seeds: the largest or the mean, as the axis says.
double over_seeds(const CurveAxis& axis, std::span<const double> positions);

}  // namespace fedarena::results
