#pragma once

#include <span>
#include <string_view>

#include "harness/app/command_line.hpp"

namespace fedarena {

/// The commands that need no LibTorch, in the order of the help text. The program `fedarena` holds these
/// alone and so starts in milliseconds; LibTorch takes half a second to load.
std::span<const AddCommand> light_commands();

/// Whether the word is the name of one of them.
bool is_light_command(std::string_view word);

}  // namespace fedarena
