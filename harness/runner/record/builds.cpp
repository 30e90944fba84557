#include "harness/runner/record/builds.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "accounting/json_text.hpp"
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

std::string version_of(const Json& environment, const std::string& algorithm) {
  const Json plugin = results::plugin_of(environment, algorithm);
  std::string text;
  for (const char* field : {"name", "version"}) {
    const auto found = plugin.find(field);
    if (found != plugin.end() && found->is_string())
      text += (text.empty() ? "" : " ") + found->get<std::string>();
  }
  return text.empty() ? "a plugin without a name" : text;
}

// Of a run that is to be continued; nothing where there is none, or nothing is left of it to do.
std::optional<results::Summary> unfinished(const fs::path& run) {
  std::error_code ignored;
  const fs::path file = run / results::kSummaryFile;
  if (!fs::exists(file, ignored)) return std::nullopt;
  results::Summary summary = results::parse_summary(results::read_whole_file(file), file.string());
  if (summary.state == results::kFinished) return std::nullopt;
  return summary;
}

// With the name of a GPU; empty where it is not recorded.
std::string recorded_device(const Json& environment) {
  std::string device;
  for (const char* field : {"device", "gpu"}) {
    const auto found = environment.find(field);
    if (found != environment.end() && found->is_string())
      device += (device.empty() ? "" : ", ") + found->get<std::string>();
  }
  return device;
}

}  // namespace

void check_plugin_version(const fs::path& run, const std::string& environment_json) {
  const std::optional<results::Summary> summary = unfinished(run);
  if (!summary) return;
  const std::string before = version_of(results::read_environment(run), summary->algorithm);
  const std::string now = version_of(parse_json<Json>(environment_json), summary->algorithm);
  if (before == now) return;
  throw Error::in(
      run, fmt::format("the run was begun with {}, but \"{}\" is now of {}", before, summary->algorithm, now),
      {.remedy =
           "Finish it with the version that began it, or remove the run directory to run this cell again "
           "from the start."});
}

void check_device(const fs::path& run, const std::string& environment_json) {
  if (!unfinished(run)) return;
  const std::string before = recorded_device(results::read_environment(run));
  const std::string now = recorded_device(parse_json<Json>(environment_json));
  if (before.empty() || before == now) return;
  throw Error::in(
      run, fmt::format("the run was begun on the device {}, but would go on on {}", before, now),
      {.remedy = "Finish it on a machine that has the device that began it, or remove the run directory to "
                 "run this cell again from the start."});
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

std::optional<std::string> environment_with_build(const fs::path& run, const std::string& environment_json,
                                                  const std::string& algorithm, std::int64_t round) {
  Json environment = results::read_environment(run);
  const Json now = build_of(parse_json<Json>(environment_json), algorithm);
  if (last_build(environment, algorithm) == now) return std::nullopt;
  Json entry{{"from_round", round}};
  for (const auto& [field, value] : now.items()) entry[field] = value;
  Json& builds = environment[kBuilds];
  if (!builds.is_array()) builds = Json::array();
  builds.push_back(std::move(entry));
  return results::json_text(environment, 1) + "\n";
}

}  // namespace fedarena
