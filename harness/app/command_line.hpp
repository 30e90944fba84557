#pragma once

#include <span>

#include <CLI/CLI.hpp>

#include "harness/app/commands.hpp"

namespace fedarena {

/// Adds a subcommand to the program.
using AddCommand = void (*)(CLI::App& app, Action& action);

/// The whole program: parses the arguments, calls a command, and turns what it throws into one message on
/// stderr and an exit code. `version` is what --version prints.
int run_command_line(int count, const char* const* arguments, std::span<const AddCommand> commands,
                     const char* version);

/// The commands that need no LibTorch, in the order of the help text. The program `fedarena` holds these
/// alone and so starts in milliseconds; LibTorch takes half a second to load.
std::span<const AddCommand> light_commands();

/// Whether these words, those after the program's name, call one of them, with nothing that needs LibTorch.
bool is_light_command(std::span<const char* const> words);

}  // namespace fedarena
