#pragma once

#include <string>
#include <vector>

#include "harness/config/sections/experiment.hpp"
#include "harness/loader/plugin_host.hpp"

namespace fedarena {

/// What experiments can choose from: every data set, partition and model of this program, and the algorithms
/// of the plugins that were loaded.
Catalog make_catalog(const PluginHost& host);

/// The keys of [privacy] under any policy, each once, in alphabetical order.
std::vector<std::string> policy_settings();

}  // namespace fedarena
