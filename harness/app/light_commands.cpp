#include "harness/app/light_commands.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace fedarena {

std::span<const AddCommand> light_commands() {
  static constexpr std::array kCommands = {
      add_table_command,   add_compare_command, add_list_command, add_watch_command,  add_verify_command,
      add_privacy_command, add_images_command,  add_plot_command, add_report_command, add_export_command,
      add_bundle_command,  add_epsilon_command, add_noise_command};
  return kCommands;
}

bool is_light_command(std::string_view word) {
  CLI::App app;
  Action action;
  for (const AddCommand add : light_commands()) add(app, action);
  const std::vector<CLI::App*> commands = app.get_subcommands({});
  return std::any_of(commands.begin(), commands.end(),
                     [word](const CLI::App* command) { return command->get_name() == word; });
}

}  // namespace fedarena
