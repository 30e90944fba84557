#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// A line that names the finished runs whose last model has a loss of nan or infinity on the test examples,
/// so that its accuracy is that of guessing: "diverged (nan or infinite loss after the last round): fedavg,
/// seeds 1, 3; scaffold, seed 2". `name` names the row of a run; the order of `runs` does not matter.
std::vector<std::string> divergence_notes(std::span<const FoundRun> runs,
                                          const std::function<std::string(const FoundRun&)>& name);

}  // namespace fedarena::results
