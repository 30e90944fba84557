#pragma once

#include <string>
#include <vector>

#include "fedarena/plugin.hpp"

namespace fedarena {

/// What this program was built with, in the form that a plugin states it.
const Plugin& own_build();

/// Every way in which a plugin does not fit this program, each with its remedy; empty when it fits. Reads no
/// field beyond `plugin.size` bytes and calls nothing.
std::vector<std::string> mismatches(const Plugin& plugin);

}  // namespace fedarena
