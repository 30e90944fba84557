#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/base/text.hpp"

#include "results/record/json_fields.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {

/// The settings of an `experiment.toml` in a run directory by "section.key", texts without quotes; those
/// below [[algorithms]] as "algorithms.key".
struct ResolvedSettings {
  std::map<std::string, std::string> texts;
  std::set<std::string> quoted = {};  ///< the keys of those that stand in quotes, whatever they look like

  bool has(const std::string& key) const { return texts.contains(key); }
  /// The text of a setting, or `fallback` where the file lacks it.
  std::string of(const std::string& key, const std::string& fallback = {}) const {
    const auto found = texts.find(key);
    return found == texts.end() ? fallback : found->second;
  }
  /// Where the settings of the run's policy stand, "privacy.": what is written below the algorithm goes
  /// before what is written for all.
  std::string policy_section() const {
    return has("algorithms.privacy.policy") ? "algorithms.privacy." : "privacy.";
  }
  /// A setting that is a number; `fallback` where the file lacks it or its text is not a number.
  template <typename Number>
  Number number(const std::string& key, Number fallback) const {
    return parse_number<Number>(of(key)).value_or(fallback);
  }
};

/// Reads what the program wrote, one setting a line, not TOML in general.
ResolvedSettings resolved_settings(std::string_view toml);

/// Whether that is such a file to its last section, and not one that was cut off or anything else.
bool is_whole_experiment(std::string_view toml);

/// The settings of one section of such a file in their order: names, and values as they are written.
std::vector<std::pair<std::string, std::string>> settings_of_section(std::string_view toml,
                                                                     std::string_view section);

/// Whether a run is the control of an audit, which adds no noise: as its summary says once it is finished,
/// before that as its experiment file does.
bool is_control(const Summary& summary, const ResolvedSettings& settings);

/// What a run directory's `environment.json` says: an object, whose fields differ from version to version. An
/// Error when it cannot be read or is none.
Json read_environment(const std::filesystem::path& run);

/// The entry of the plugin that offers the algorithm; an empty object where an environment names none.
Json plugin_of(const Json& environment, const std::string& algorithm);

}  // namespace fedarena::results
