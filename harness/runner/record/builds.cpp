#include "harness/runner/record/builds.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "accounting/json_text.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/record.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
using results::Json;

constexpr const char* kBuilds = "builds";
// What is recorded of a build beside the algorithm's plugin, and on what kind of processor it ran.
constexpr std::array<const char*, 8> kFields = {"fedarena", "commit",  "program_sha256", "compiler",
                                                "libtorch", "sdk_abi", "arithmetic",     "gpu"};

Json build_of(const Json& environment, const std::string& algorithm) {
  Json build = Json::object();
  for (const char* field : kFields) {
    if (const auto found = environment.find(field); found != environment.end()) build[field] = *found;
  }
  if (const Json plugin = results::plugin_of(environment, algorithm); !plugin.empty())
    build["plugins"] = Json::array({plugin});
  return build;
}

// Of a file that may have been edited.
Json last_build(const Json& environment, const std::string& algorithm) {
  const auto builds = environment.find(kBuilds);
  const bool resumed = builds != environment.end() && builds->is_array() && !builds->empty();
  return build_of(resumed ? builds->back() : environment, algorithm);
}

// Both texts, as far as the object has them.
std::string texts_of(const Json& object, const char* first, const char* second, const char* between) {
  std::string text;
  for (const char* field : {first, second}) {
    const auto found = object.find(field);
    if (found != object.end() && found->is_string())
      text += (text.empty() ? "" : between) + found->get<std::string>();
  }
  return text;
}

std::string version_of(const Json& environment, const std::string& algorithm) {
  const std::string text = texts_of(results::plugin_of(environment, algorithm), "name", "version", " ");
  return text.empty() ? "a plugin without a name" : text;
}

// With the name of a GPU; empty where it is not recorded.
std::string recorded_device(const Json& environment) { return texts_of(environment, "device", "gpu", ", "); }

}  // namespace

void check_plugin_and_device(const fs::path& run, const Json& environment) {
  const std::optional<results::Summary> summary = recorded_summary(run);
  if (!summary || is_finished(summary)) return;
  const Json then = results::read_environment(run);
  const std::string& algorithm = summary->algorithm;
  const auto refuse = [&](const std::string& found, const char* with) {
    throw Error::in(run, found,
                    {.remedy = fmt::format("Finish it {} that began it, or remove the run directory to run "
                                           "this cell again from the start.",
                                           with)});
  };
  const std::string before = version_of(then, algorithm), after = version_of(environment, algorithm);
  if (before != after) {
    refuse(fmt::format("the run was begun with {}, but \"{}\" is now of {}", before, algorithm, after),
           "with the version");
  }
  const std::string device = recorded_device(then), other = recorded_device(environment);
  if (!device.empty() && device != other) {
    refuse(fmt::format("the run was begun on the device {}, but would go on on {}", device, other),
           "on a machine that has the device");
  }
}

std::string recorded_builds(const fs::path& run, const std::string& algorithm) {
  const Json environment = results::read_environment(run);
  Json list = Json::array({build_of(environment, algorithm)});
  const auto later = environment.find(kBuilds);
  if (later != environment.end() && later->is_array()) list.insert(list.end(), later->begin(), later->end());
  return results::json_text(list, -1);
}

bool builds_go_on(const std::string& before, const std::string& now) {
  const auto then = parse_json<Json>(before), list = parse_json<Json>(now);
  return then.is_array() && list.is_array() && then.size() <= list.size() &&
         std::equal(then.begin(), then.end(), list.begin());
}

bool is_of_another_build(const fs::path& run, const Json& environment, const std::string& algorithm) {
  try {
    return last_build(results::read_environment(run), algorithm) != build_of(environment, algorithm);
  } catch (const Error&) {  // `verify` names it
    return false;
  }
}

void check_same_code(const fs::path& run, const Json& environment, const std::string& algorithm,
                     const std::string& found) {
  const auto code_of = [](Json build) {
    for (const char* field : {"arithmetic", "gpu"}) build.erase(field);
    return build;
  };
  const Json before = last_build(results::read_environment(run), algorithm);
  if (code_of(before) == code_of(build_of(environment, algorithm))) return;
  throw Error::in(
      run, found,
      {.remedy = "Finish the run with that build, since other answers under the same noise would "
                 "tell what it hides, or remove the run directory to run this cell again from the "
                 "start, if nobody has seen anything of those rounds."});
}

std::optional<std::string> environment_with_build(const fs::path& run, const Json& environment,
                                                  const std::string& algorithm, std::int64_t round) {
  Json recorded = results::read_environment(run);
  const Json now = build_of(environment, algorithm);
  if (last_build(recorded, algorithm) == now) return std::nullopt;
  Json entry{{"from_round", round}};
  for (const auto& [field, value] : now.items()) entry[field] = value;
  Json& builds = recorded[kBuilds];
  if (!builds.is_array()) builds = Json::array();
  builds.push_back(std::move(entry));
  return results::json_text(recorded, 1) + "\n";
}

}  // namespace fedarena
