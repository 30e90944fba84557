#include "harness/app/run/experiment_options.hpp"

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"

#include "harness/config/sections/devices.hpp"

namespace fedarena {
namespace {

// As the experiment file has it, but named by its option.
CLI::Validator device_name() {
  const auto check = [](std::string& text) -> std::string {
    if (is_device(text)) return {};
    return Error(Complaint{.found = fmt::format("\"{}\" is unknown", text),
                           .allowed = kDeviceNames,
                           .nearest = nearest_device(text)})
        .what();
  };
  return {check, ""};
}

}  // namespace

PluginHost load_plugins(const std::vector<std::filesystem::path>& plugin_path) {
  PluginHost host;
  for (const std::filesystem::path& folder : plugin_folders(plugin_path)) host.load_folder(folder);
  for (const PluginReport& report : host.reports()) {
    if (report.problem.empty()) continue;
    print(stderr, "warning: plugin {} is not in use: {}\n", report.library.string(), report.problem);
  }
  return host;
}

void add_device(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "auto, cpu, cuda or cuda:N; replaces experiment.device")
      ->type_name("NAME")
      ->check(device_name());
}

void add_experiment_options(CLI::App& command, ExperimentOptions& options) {
  command.add_option("FILE", options.file, "the experiment file (TOML)")->required();
  command
      .add_option("--profile", options.profile,
                  "a profile of the file: overrides under a name, applied before --set")
      ->type_name("NAME");
  command
      .add_option("--set", options.overrides,
                  "section.key=value, replaces what the file says; may be repeated")
      ->allow_extra_args(false);
  add_plugin_path(command, options.plugin_path);
}

}  // namespace fedarena
