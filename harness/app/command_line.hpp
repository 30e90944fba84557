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

}  // namespace fedarena
