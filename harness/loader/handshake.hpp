#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedarena/plugin.hpp"

namespace fedarena {

/// What a plugin's file says of itself, read as data: nothing of the plugin runs. Error with the reason, as a
/// report words it, when the file is not a regular one, not a whole shared library of this machine, or states
/// nothing.
Plugin read_handshake(const std::filesystem::path& library);

/// The text in a field; none when it has no end or has control characters.
std::optional<std::string> field_text(std::span<const char> field);

/// What this program was built with, in the form that a plugin states it.
const Plugin& own_build();

/// Every way in which a plugin does not fit this program, each with its remedy; empty when it fits.
std::vector<std::string> mismatches(const Plugin& plugin);

}  // namespace fedarena
