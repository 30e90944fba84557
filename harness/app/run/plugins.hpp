#pragma once

#include <filesystem>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/loader/plugin_host.hpp"

namespace fedarena {

/// Loads the plugins of the standard folders and of `plugin_path`. Broken ones are named on stderr, with the
/// reason.
PluginHost load_plugins(const std::vector<std::filesystem::path>& plugin_path);

/// Adds the option --plugin-path, which fills `folders`.
void add_plugin_path(CLI::App& command, std::vector<std::filesystem::path>& folders);

}  // namespace fedarena
