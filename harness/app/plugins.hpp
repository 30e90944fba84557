#pragma once

#include <filesystem>
#include <vector>

#include "harness/loader/plugin_host.hpp"

namespace fedarena {

/// Loads the plugins of the standard folders and of `plugin_path`. Broken ones are named on stderr, with the
/// reason.
PluginHost load_plugins(const std::vector<std::filesystem::path>& plugin_path);

}  // namespace fedarena
