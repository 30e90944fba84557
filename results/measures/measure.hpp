#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// What the evaluation of a round is asked for.
enum class Measure {
  kAccuracy,
  kLoss,
  kRmse,
  kMacroF1,
  kWorstClass,
  kValidationAccuracy,
  kClientAccuracy,
  kWorstClient,
  kClientMacroF1,
  kClientRmse,
  kWorstClientRmse
};

/// The names of all measures, for help.
std::vector<std::string> measure_names();

/// The measure of that name; none when there is none.
std::optional<Measure> find_measure(const std::string& name);

/// As users write it: "macro-f1".
std::string name_of(Measure measure);

/// For the head of a column or an axis: "macro F1 (%)".
std::string heading(Measure measure);

/// To begin a legend: "Macro F1".
std::string describe(Measure measure);

/// The setting of an experiment file with which rounds record it, "[evaluation] per_client = true"; empty
/// where no setting does.
std::string recorded_with(Measure measure);

/// Whether the measure is a fraction, of which more is better; a loss or an error otherwise.
bool is_share(Measure measure);

/// What a round says of it: a fraction, a loss or an error, nan or infinite where a model diverged; none
/// where the round was not evaluated so.
std::optional<double> value_of(Measure measure, const RoundRecord& round);

}  // namespace fedarena::results
