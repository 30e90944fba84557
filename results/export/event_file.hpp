#pragma once

#include <string>

#include "results/export/exported_runs.hpp"
#include "results/export/round_values.hpp"

namespace fedarena::results {

/// The name of a run's event file; TensorBoard reads files whose names hold "tfevents".
inline constexpr const char* kEventFile = "events.out.tfevents.0000000000.fedarena";

/// What a run is, how it was set, and what its epsilons rest on, as a Markdown table of names and values.
/// `control`: see `is_control`.
std::string settings_text(const Summary& summary, bool control = false);

/// A run as an event file of TensorBoard: its settings as text, and for every round the scalars
/// "<group>/<measure>" with the round as step. Scalars are floats of four bytes; what is larger becomes
/// infinite, and an epsilon is rounded up. An event's time is the seconds that the run has taken so far, so
/// that the bytes depend on the record alone; a second a round where they would tell the sizes of samples
/// that privacy keeps secret.
std::string event_file(const ExportedRun& run, const Measures& measures = {});

}  // namespace fedarena::results
