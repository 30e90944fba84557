#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace fedarena::results {

using Json = nlohmann::ordered_json;
class RecordForm;

/// What a point of a grid gives: paths of the experiment file, such as "partition.alpha", and their values as
/// text, by path. Empty where nothing was swept.
using Sweep = std::vector<std::pair<std::string, std::string>>;

/// How a path to a setting of an algorithm begins, and to one that all algorithms get as a parameter.
inline constexpr std::string_view kAlgorithmPaths = "algorithms.";
inline constexpr std::string_view kTrainingPaths = "training.";

/// The parameter that algorithms get by that path, "rate" by "training.rate"; other paths and keys as they
/// are.
std::string parameter_of(const std::string& path);

/// Without the settings of single algorithms: what rows share that are compared.
Sweep shared_sweep(const Sweep& sweep);

/// The key of a setting of the algorithm with that label, which may stand in quotes, as in an override: "mu"
/// by "algorithms.fedprox.mu". None where the path is not of that algorithm.
std::optional<std::string> own_key(const std::string& path, const std::string& label);

/// The settings of the algorithm with that label, by their keys: {"mu", "0.1"}.
Sweep own_sweep(const Sweep& sweep, const std::string& label);

/// A value of an experiment file as a sweep writes it: 1 for 1.0, and no quotes.
std::string plain_value(const std::string& text);

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

/// Follows the name of an experiment's folder in that of its trials.
inline constexpr const char* kTrialsEnding = "-tuning";

/// What trials are judged by, as `Tuning::criterion` names it.
inline constexpr std::string_view kByValidationAccuracy = "validation accuracy";
inline constexpr std::string_view kByValidationLoss = "validation loss";

/// How the settings of a run were chosen: by the `[tuning]` of its experiment file, whose trials are runs of
/// their own. A part of `summary.json`.
struct Tuning {
  std::string search;           ///< "grid" or "random"
  std::int64_t trials = 1;      ///< runs of this algorithm, each with other settings; at least 1
  std::int64_t seed = 0;        ///< that the trials ran under
  Sweep chosen;                 ///< the settings of the best trial, by path; at least one, paths distinct
  std::string criterion;        ///< what was best: one of the two above
  std::optional<double> score;  ///< of the best trial's last round; none where every trial diverged
  std::int64_t examples = 0;  ///< gradients of clients' examples that all trials of this algorithm evaluated
  double seconds = 0;         ///< of all trials of this algorithm

  bool operator==(const Tuning&) const = default;
};

/// The fields of the object "tuning" of a summary.
void form_tuning(RecordForm& form, Tuning& tuning);

/// Appends that object; null in the place of what the trials took where `with_costs` is false.
void append_tuning(Json& json, const Tuning& tuning, bool with_costs);

}  // namespace fedarena::results
