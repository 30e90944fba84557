#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fedarena::results {

/// What a point of a grid gives: paths of the experiment file, such as "partition.alpha", and their values as
/// text, by path. Empty where nothing was swept.
using Sweep = std::vector<std::pair<std::string, std::string>>;

/// How a path to a setting of an algorithm begins.
inline constexpr std::string_view kAlgorithmPaths = "algorithms.";

/// Without the settings of single algorithms: what rows share that are compared.
Sweep shared_sweep(const Sweep& sweep);

/// The settings of the algorithm with that label, by their keys: {"mu", "0.1"}.
Sweep own_sweep(const Sweep& sweep, const std::string& label);

/// "partition.alpha=0.1, training.rate=0.01".
std::string sweep_text(const Sweep& sweep);

/// What the sweep gives below a section such as "partition", in one text.
std::string swept_in(const Sweep& sweep, std::string_view section);

/// A choice as summaries write it, "dirichlet (clients = 10, alpha = 0.1)": its name, and its settings with
/// their values.
std::string name_of_choice(const std::string& choice);
Sweep settings_of_choice(const std::string& choice);

/// A choice as summaries write it, "dirichlet (clients = 10, alpha = 0.1)", without the settings that the
/// sweep gives below that section: "dirichlet (clients = 10)".
std::string without_swept(const std::string& choice, const Sweep& sweep, std::string_view section);

}  // namespace fedarena::results
