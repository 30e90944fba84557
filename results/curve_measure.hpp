#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "results/find_runs.hpp"
#include "results/measure.hpp"

namespace fedarena::results {

/// What can be drawn round by round: a measure, or by its name what algorithms observe of themselves.
using CurveMeasure = std::variant<Measure, std::string>;

/// The measure of that name, or what some round of a finished run observes under it. An Error that lists both
/// otherwise.
CurveMeasure find_curve_measure(const std::string& name, std::span<const FoundRun> runs);

/// All names that these rounds observe, ascending.
std::vector<std::string> observed_names(std::span<const RoundRecord> rounds);

/// As users write it.
std::string name_of(const CurveMeasure& measure);

/// For an axis.
std::string heading(const CurveMeasure& measure);

/// Whether it is a fraction, of which more is better.
bool is_share(const CurveMeasure& measure);

/// What a round says of it; nan or infinite where a model diverged, none where the round says nothing.
std::optional<double> value_of(const CurveMeasure& measure, const RoundRecord& round);

}  // namespace fedarena::results
