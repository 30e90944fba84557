#pragma once

#include <optional>
#include <span>

namespace fedarena::results {

/// The mean of at least one value, by compensated summation.
double mean(std::span<const double> values);

/// The sample standard deviation (divisor n - 1) of at least one value, by the corrected two-pass formula;
/// none for a single value, whose spread is unknown rather than 0.
std::optional<double> sample_standard_deviation(std::span<const double> values);

}  // namespace fedarena::results
