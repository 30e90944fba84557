#pragma once

#include <optional>
#include <string>

#include "results/record/record.hpp"

namespace fedarena::results {

/// "6 trials", "1 trial"; "none" without tuning.
std::string trials_text(const std::optional<Tuning>& tuning);

/// What was chosen and how, without what it took: "6 trials (grid, seed 0): training.rate=0.1"; "none"
/// without tuning.
std::string search_text(const std::optional<Tuning>& tuning);

/// The chosen settings of the algorithm with that label, its own by their keys: "training.rate = 0.1, mu =
/// 0.01".
std::string chosen_text(const Tuning& tuning, const std::string& label);

/// What the trials took and what came of them: "16.8 s and 1.30 M examples, training.rate = 0.1 (76.67 %)".
std::string outcome_text(const Tuning& tuning, const std::string& label);

/// What every table of tuned private runs must say.
inline constexpr const char* kTrialsNotCovered =
    "epsilon does not cover the trials: they, and the choice among them, looked at private data, too";

}  // namespace fedarena::results
