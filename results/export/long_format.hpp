#pragma once

#include <span>
#include <string>

#include "results/export/exported_runs.hpp"

namespace fedarena::results {

/// A line a run, round and measure, as comma-separated values below a line of names: run, experiment,
/// dataset, partition, model, every swept key, algorithm, label, seed, state, policy, unit, adjacency, delta,
/// orders, conversion, assumed, public_data, control, round, measure, value; where any run was tuned, also
/// tuning.trials and what was chosen, such as tuning.training.rate, before the algorithm. All but the last
/// three are the same on every line of a run, so that a run and a round name a row once measures are made
/// columns. What is missing is empty; values may be "nan", "inf" and
/// "-inf".
std::string long_csv(std::span<const ExportedRun> runs, const Measures& measures = {});

/// The same as a JSON object a line. What is missing is null; values that JSON cannot hold are the texts
/// "nan", "inf" and "-inf".
std::string long_json_lines(std::span<const ExportedRun> runs, const Measures& measures = {});

}  // namespace fedarena::results
