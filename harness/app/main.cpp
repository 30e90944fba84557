// The program: all its commands.
#include <array>

#include "harness/app/command_line.hpp"

int main(int count, char** arguments) {
  using namespace fedarena;
  constexpr std::array<AddCommand, 14> kCommands = {
      add_run_command,     add_partition_command, add_table_command,   add_compare_command,
      add_list_command,    add_verify_command,    add_privacy_command, add_images_command,
      add_plot_command,    add_epsilon_command,   add_noise_command,   add_data_command,
      add_plugins_command, add_help_command};
  return run_command_line(count, arguments, kCommands, FEDARENA_VERSION);
}
