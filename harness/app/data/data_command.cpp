#include "harness/app/data/data_command.hpp"

namespace fedarena {

void add_data_command(CLI::App& app, Action& action) {
  CLI::App* data = app.add_subcommand("data", "List, explain, verify, fetch and show data sets.");
  data->require_subcommand(1);
  data->footer("`fedarena data COMMAND --help` explains a command.");
  for (const auto add : {add_data_list, add_data_info, add_data_verify, add_data_fetch, add_data_preview})
    add(*data, action);
}

}  // namespace fedarena
