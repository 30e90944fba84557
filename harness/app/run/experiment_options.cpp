#include "harness/app/run/experiment_options.hpp"

#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"

#include "harness/runner/plan/catalog.hpp"

namespace fedarena {

LoadedPlugins load_plugins(const std::vector<std::filesystem::path>& plugin_path) {
  PluginHost host(policy_settings());
  for (const std::filesystem::path& folder : plugin_folders(plugin_path)) host.load_folder(folder);
  for (const PluginReport& report : host.reports()) {
    if (report.problem.empty()) continue;
    print(stderr, "warning: plugin {} is not in use: {}\n", report.library.string(), report.problem);
  }
  Catalog catalog = make_catalog(host);
  return {std::move(host), std::move(catalog)};
}

void add_device(CLI::App& command, std::string& device) {
  add_read(command, "--device", "NAME", "auto, cpu, cuda or cuda:N; replaces experiment.device",
           [&device](const std::string& option, const std::string& text) {
             if (!is_device(text))
               throw Error(Complaint{.found = fmt::format("{}: \"{}\" is unknown", option, text),
                                     .allowed = kDeviceNames,
                                     .nearest = nearest_device(text)});
             device = text;
           });
}

void add_experiment_options(CLI::App& command, ExperimentOptions& options) {
  command.add_option("FILE", options.file, "the experiment file (TOML)")->required();
  add_value(command, "--profile", "NAME", options.profile,
            "a profile of the file: overrides under a name, applied before --set");
  command
      .add_option("--set", options.overrides,
                  "section.key=value, replaces what the file says; may be repeated")
      ->allow_extra_args(false);
  add_plugin_path(command, options.plugin_path);
}

}  // namespace fedarena
