#pragma once

#include <CLI/CLI.hpp>

#include "harness/app/commands.hpp"

namespace fedarena {

/// Each adds its command below `fedarena data` and sets `action` when it is the one that was called.
void add_data_list(CLI::App& data, Action& action);
void add_data_info(CLI::App& data, Action& action);
void add_data_verify(CLI::App& data, Action& action);
void add_data_fetch(CLI::App& data, Action& action);
void add_data_preview(CLI::App& data, Action& action);

}  // namespace fedarena
