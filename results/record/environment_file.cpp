#include "results/record/environment_file.hpp"

#include <algorithm>

#include "fedarena/base/error.hpp"

#include "accounting/json_text.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {

Json read_environment(const std::filesystem::path& run) {
  const std::filesystem::path file = run / kEnvironmentFile;
  const std::string text = read_whole_file(file);
  try {
    Json environment = parse_json<Json>(text);
    if (environment.is_object()) return environment;
  } catch (const Json::exception&) {  // said below, as is what is nested too deep
  } catch (const Error&) {
  }
  throw Error(Complaint{.place = {.file = file.string()}, .found = "is not a JSON object"});
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
