#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/config/sections/experiment.hpp"
#include "harness/loader/plugin_host.hpp"

namespace fedarena {

/// Plugins, and what experiments can choose from with them.
struct LoadedPlugins {
  PluginHost host;
  Catalog catalog;
};

/// Loads the plugins of the standard folders and of `plugin_path`. Broken ones are named on stderr, with the
/// reason.
LoadedPlugins load_plugins(const std::vector<std::filesystem::path>& plugin_path);

/// Adds the option --device, which fills `device`; empty: it is left out.
void add_device(CLI::App& command, std::string& device);

/// An experiment file as a command line names it.
struct ExperimentOptions {
  std::filesystem::path file;
  std::vector<std::string> overrides;
  std::optional<std::string> profile;
  std::vector<std::filesystem::path> plugin_path;
};

/// Adds FILE, --profile, --set and --plugin-path.
void add_experiment_options(CLI::App& command, ExperimentOptions& options);

}  // namespace fedarena
