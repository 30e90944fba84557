#include "harness/loader/plugin_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <link.h>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/trial.hpp"

#include "harness/loader/guarded_algorithm.hpp"
#include "harness/loader/handshake.hpp"
#include "harness/sdk/plugin_visit.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
namespace dll = boost::dll;

constexpr const char* kInstall = "fedarena_install";

// A static initialiser threw. glibc's dynamic linker then keeps its lock, and whoever looks up a symbol
// hangs: no process can go on.
class LoadingThrew : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Keeps libraries loaded until the process ends; their code may be needed by destructors that run last.
const dll::shared_library& keep_forever(dll::shared_library library) {
  static auto* const kept = new std::vector<dll::shared_library>();
  return kept->emplace_back(std::move(library));
}

// Whether the symbol table calls it a function: data of that name would be run as code.
bool is_function(const void* address) {
  Dl_info info;
  ElfW(Sym)* symbol = nullptr;
  return dladdr1(address, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) != 0 && symbol &&
         ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

// Loads a plugin that fits, which runs its static initialisers, and lets it announce its algorithms; nothing
// of it is in use yet.
Registry install(const fs::path& library) {
  const KeptFloatEnvironment kept_environment;
  boost::dll::fs::error_code failure;
  dll::shared_library loaded;
  try {
    loaded.load(library.string(), failure, dll::load_mode::rtld_now);
  } catch (const std::exception& thrown) {
    throw LoadingThrew(thrown.what());
  } catch (...) {
    throw LoadingThrew("something that is not a std::exception was thrown");
  }
  if (failure) {
    const char* reason = dlerror();  // says more than Boost's code, such as which symbol is missing
    throw Error::of("it cannot be loaded: {}", reason ? reason : failure.message());
  }
  const dll::shared_library& kept = keep_forever(std::move(loaded));
  if (!kept.has(kInstall) || !is_function(&kept.get<const char>(kInstall))) {
    throw Error::of("it exports no function \"{}\"; write FEDARENA_PLUGIN(name, version) {{ ... }} in it",
                    kInstall);
  }
  Registry registry;
  kept.get<void(Registry&)>(kInstall)(registry);
  return registry;
}

// Tries plugins in a copy of the process: what loading them ends it with, or an empty text.
std::string died_of_installing(std::span<const fs::path> libraries) {
  return died_of([&] {
    for (const fs::path& library : libraries) {
      try {
        install(library);
      } catch (const LoadingThrew&) {
        throw;
      } catch (...) {
        // Ends nobody; load() meets it again and reports it.
      }
    }
  });
}

PluginReport read_report(const fs::path& library) {
  PluginReport report{.library = library};
  try {
    const Plugin plugin = read_handshake(library);
    report.name = field_text(plugin.name).value_or("");
    report.version = field_text(plugin.version).value_or("");
    if (const std::vector<std::string> problems = mismatches(plugin); !problems.empty()) {
      report.problem = fmt::format("it was built for another program: {}", fmt::join(problems, "; "));
    }
  } catch (const std::exception& thrown) {
    report.problem = thrown.what();
  }
  return report;
}

}  // namespace

void PluginHost::load_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw Error::in(folder, "the plugin path is not a folder",
                    {.remedy = "Give the folder that holds the plugin's .so file."});
  }
  std::vector<fs::path> libraries;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::canonical(folder))) {
    if (entry.path().extension() != ".so") continue;
    // What is not a library is told by the name that it has here.
    std::error_code dangling;
    const fs::path library = fs::canonical(entry.path(), dangling);
    libraries.push_back(entry.is_regular_file(dangling) ? library : entry.path());
  }
  std::sort(libraries.begin(), libraries.end());
  const std::size_t known = reports_.size();
  std::vector<fs::path> fitting;
  for (const fs::path& library : libraries) {
    if (find_named(reports_, library, &PluginReport::library) != nullptr) continue;
    if (reports_.emplace_back(read_report(library)).problem.empty()) fitting.push_back(library);
  }
  // One copy for all, since copies are a fifth of what a start costs; each plugin has its own only where it
  // has to be found out which one ends it.
  const bool one_ends_it = !fitting.empty() && !died_of_installing(fitting).empty();
  for (PluginReport& report : std::span(reports_).subspan(known)) {
    if (report.problem.empty()) load(report, one_ends_it);
  }
}

void PluginHost::load(PluginReport& report, bool try_first) {
  const fs::path& library = report.library;
  try {
    if (const std::string reason = try_first ? died_of_installing({&library, 1}) : ""; !reason.empty()) {
      throw Error::of("loading it ends the program: {}; mend its static initialisers or what it registers",
                      reason);
    }
    const Registry offered = install(library);
    for (const AlgorithmInfo& info : offered.algorithms()) {
      if (const AlgorithmInfo* taken = registry_.find(info.name)) {
        throw Error::of("its algorithm name \"{}\" is already taken by {}", info.name, taken->library);
      }
      check_settings(info);
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
    report.problem = "its install function threw something that is not a std::exception";
  }
}

void PluginHost::check_settings(const AlgorithmInfo& info) const {
  for (const Field& field : info.fields) {
    if (!contains(policy_settings_, field.name)) continue;
    throw Error(Complaint{
        .found = fmt::format("the setting \"{}\" of algorithm \"{}\" is called like one of [privacy]",
                             field.name, info.name),
        .allowed = fmt::format("any name but {}", join_names(policy_settings_)),
        .remedy = fmt::format("Rename it, such as \"own_{}\"", field.name)});
  }
}

const AlgorithmInfo& PluginHost::info(const std::string& algorithm) const {
  if (const AlgorithmInfo* found = registry_.find(algorithm)) return *found;
  const std::vector<std::string> names = names_of(registry_.algorithms(), &AlgorithmInfo::name);
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
  std::istringstream paths(variable ? variable : "");
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty()) folders.emplace_back(path);
  }
  return folders;
}

}  // namespace fedarena
