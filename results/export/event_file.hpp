#pragma once

#include <string>

#include "results/export/exported_runs.hpp"
#include "results/export/round_values.hpp"

namespace fedarena::results {

/// The name of a run's event file; TensorBoard reads files whose names hold "tfevents".
inline constexpr const char* kEventFile = "events.out.tfevents.0000000000.fedarena";

/// A run as an event file of TensorBoard: its settings as text, and for every round the scalars
/// "<group>/<measure>" with the round as step. Scalars are floats of four bytes; what is larger becomes
/// infinite, and an epsilon is rounded up. An event's time is the seconds that the run has taken so far, so
/// that the bytes depend on the record alone.
std::string event_file(const ExportedRun& run, const Measures& measures = {});

}  // namespace fedarena::results
