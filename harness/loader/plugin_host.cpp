#include "harness/loader/plugin_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <system_error>
#include <utility>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <fmt/ranges.h>

#include "fedarena/base/nearest.hpp"

#include "harness/loader/guarded_algorithm.hpp"
#include "harness/loader/handshake.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
namespace dll = boost::dll;

constexpr const char* kSymbol = "fedarena_plugin";

// Keeps libraries loaded until the process ends; their code may be needed by destructors that run last.
void keep_forever(dll::shared_library library) {
  static auto* const kept = new std::vector<dll::shared_library>();
  kept->push_back(std::move(library));
}

std::vector<std::string> names_of(const Registry& registry) {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : registry.algorithms()) names.push_back(info.name);
  return names;
}

// Lets a plugin announce its algorithms and returns them; nothing of it is in use yet.
Registry install(const Plugin& plugin) {
  Registry registry;
  plugin.install(registry);
  return registry;
}

}  // namespace

void PluginHost::load_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw Error(Complaint{.place = {folder.string()},
                          .found = "the plugin path is not a folder",
                          .remedy = "Give the folder that holds the plugin's .so file."});
  }
  std::vector<fs::path> libraries;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::canonical(folder))) {
    if (entry.path().extension() != ".so") continue;
    std::error_code dangling;
    const fs::path library = fs::canonical(entry.path(), dangling);
    libraries.push_back(dangling ? entry.path() : library);
  }
  std::sort(libraries.begin(), libraries.end());
  for (const fs::path& library : libraries) {
    const bool seen = std::any_of(reports_.begin(), reports_.end(),
                                  [&](const PluginReport& report) { return report.library == library; });
    if (!seen) load_file(library);
  }
}

void PluginHost::load_file(const fs::path& library) {
  PluginReport& report = reports_.emplace_back(PluginReport{.library = library});
  boost::dll::fs::error_code failure;
  dll::shared_library loaded(library.string(), failure, dll::load_mode::rtld_now);
  if (failure) {
    const char* reason = dlerror();  // says more than Boost's code, such as which symbol is missing
    report.problem = fmt::format("it cannot be loaded: {}", reason ? reason : failure.message());
    return;
  }
  if (!loaded.has(kSymbol)) {
    report.problem =
        fmt::format("it exports no \"{}\"; write FEDARENA_PLUGIN(name, version) {{ ... }} in it", kSymbol);
    return;
  }
  const Plugin& plugin = loaded.get<const Plugin>(kSymbol);
  keep_forever(std::move(loaded));
  const std::vector<std::string> problems = mismatches(plugin);
  if (plugin.size >= sizeof(Plugin)) {
    report.name = plugin.name ? plugin.name : "";
    report.version = plugin.version ? plugin.version : "";
  }
  if (!problems.empty()) {
    report.problem = fmt::format("it was built for another program: {}", fmt::join(problems, "; "));
    return;
  }
  try {
    const Registry offered = install(plugin);
    for (const AlgorithmInfo& info : offered.algorithms()) {
      if (const AlgorithmInfo* taken = registry_.find(info.name)) {
        throw Error::of("its algorithm name \"{}\" is already taken by {}", info.name, taken->library);
      }
    }
    for (AlgorithmInfo info : offered.algorithms()) {
      info.plugin = fmt::format("{} {}", report.name, report.version);
      info.library = library.string();
      report.algorithms.push_back(info.name);
      registry_.add(std::move(info));
    }
  } catch (const std::exception& thrown) {
    report.problem = thrown.what();
  } catch (...) {
    report.problem = "its install function threw something that is no std::exception";
  }
}

const AlgorithmInfo& PluginHost::info(const std::string& algorithm) const {
  if (const AlgorithmInfo* found = registry_.find(algorithm)) return *found;
  const std::vector<std::string> names = names_of(registry_);
  throw Error(Complaint{
      .found = fmt::format("unknown algorithm \"{}\"", algorithm),
      .allowed = names.empty() ? "none, for no plugin was found" : join_names(names),
      .nearest = nearest_name(algorithm, names),
      .remedy = "`fedarena plugins` shows every plugin that was found, and why some are not in use."});
}

std::unique_ptr<const Algorithm> PluginHost::create(const std::string& algorithm,
                                                    const Settings& settings) const {
  return guarded(info(algorithm), settings);
}

std::vector<fs::path> plugin_folders(std::span<const fs::path> given) {
  std::vector<fs::path> folders;
  const fs::path program = dll::program_location().string();
  for (const fs::path& beside : {program.parent_path().parent_path() / "plugins",
                                 program.parent_path().parent_path() / "lib" / "fedarena" / "plugins"}) {
    if (fs::is_directory(beside)) folders.push_back(beside);
  }
  folders.insert(folders.end(), given.begin(), given.end());
  const char* variable = std::getenv("FEDARENA_PLUGIN_PATH");
  std::string rest = variable ? variable : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (colon != 0) folders.emplace_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

}  // namespace fedarena
