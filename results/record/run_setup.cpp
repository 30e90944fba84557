#include "results/record/run_setup.hpp"

#include <algorithm>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

#include "accounting/json_text.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// "algorithms" of "[[algorithms]]".
std::string_view section_of(std::string_view line) {
  while (line.size() >= 2 && line.front() == '[' && line.back() == ']')
    line = line.substr(1, line.size() - 2);
  return line;
}

// Calls `take` with the section, the key and the text of every setting, in their order.
template <typename Take>
void for_each_setting(std::string_view toml, const Take& take) {
  std::string_view section;
  while (!toml.empty()) {
    const std::size_t end = toml.find('\n');
    const std::string_view line = toml.substr(0, end);
    toml.remove_prefix(end == std::string_view::npos ? toml.size() : end + 1);
    if (line.starts_with('[')) {
      section = section_of(line);
      continue;
    }
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    take(section, std::string(line.substr(0, equals)), line.substr(equals + 3));
  }
}

}  // namespace

ResolvedSettings resolved_settings(std::string_view toml) {
  ResolvedSettings settings;
  for_each_setting(toml, [&](std::string_view section, const std::string& key, std::string_view text) {
    const std::string name = std::string(section) + "." + key;
    settings.texts[name] = unquoted(text);
    if (settings.texts[name] != text) settings.quoted.insert(name);
  });
  return settings;
}

bool is_whole_experiment(std::string_view toml) {
  return toml.ends_with('\n') && resolved_settings(toml).has("algorithms.privacy.policy");
}

std::vector<std::pair<std::string, std::string>> settings_of_section(std::string_view toml,
                                                                     std::string_view section) {
  std::vector<std::pair<std::string, std::string>> settings;
  for_each_setting(toml, [&](std::string_view of, const std::string& key, std::string_view text) {
    if (of == section) settings.emplace_back(key, text);
  });
  return settings;
}

bool is_control(const Summary& summary, const ResolvedSettings& settings) {
  if (summary.audit) return summary.audit->control;
  return summary.privacy && summary.state != kFinished && settings.of("audit.noise") == "off";
}

Json read_environment(const std::filesystem::path& run) {
  const std::filesystem::path file = run / kEnvironmentFile;
  const std::string text = read_whole_file(file);
  try {
    Json environment = parse_json<Json>(text);
    if (environment.is_object()) return environment;
  } catch (const Json::exception&) {  // said below, as is what is nested too deep
  } catch (const Error&) {
  }
  throw Error::in(file, "is not a JSON object");
}

Json plugin_of(const Json& environment, const std::string& algorithm) {
  const auto plugins = environment.find("plugins");
  if (plugins == environment.end() || !plugins->is_array()) return Json::object();
  for (const Json& plugin : *plugins) {
    if (!plugin.is_object() || !plugin.contains("algorithms")) continue;
    const Json& names = plugin["algorithms"];
    if (names.is_array() && std::find(names.begin(), names.end(), algorithm) != names.end()) return plugin;
  }
  return Json::object();
}

}  // namespace fedarena::results
