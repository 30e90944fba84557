#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "harness/config/grid/tuning.hpp"
#include "results/record/tuning.hpp"

namespace fedarena {

/// The trial of an algorithm that was best, and what all of its trials took.
struct ChosenTrial {
  AlgorithmEntry entry;  ///< with the settings of that trial
  results::Tuning tuning;
};

/// Reads the trials' run directories below `folder` and chooses one for each label: the one whose last round
/// has the best accuracy on validation examples (on regression data, the smallest loss), of equal ones the
/// first. Test examples have no part in it. Throws Error for directories that cannot be read.
std::map<std::string, ChosenTrial> choose_trials(const TuningPlan& plan, const std::filesystem::path& folder);

}  // namespace fedarena
