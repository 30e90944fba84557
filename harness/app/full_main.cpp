// The full program: all commands.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "harness/app/command_line.hpp"
#include "harness/app/stop_on_signal.hpp"

int main(int count, char** arguments) {
  using namespace fedarena;
  end_on_signal();
  std::vector<AddCommand> commands = {add_run_command,    add_submit_command, add_partition_command,
                                      add_attack_command, add_fid_command,    add_model_command};
  commands.insert(commands.end(), light_commands().begin(), light_commands().end());
  std::replace(commands.begin(), commands.end(), AddCommand(add_verify_command),
               AddCommand(add_full_verify_command));
  commands.insert(commands.end(),
                  {add_replay_command, add_data_command, add_plugins_command, add_help_command});
  const int code = run_command_line(count, arguments, commands, FEDARENA_VERSION);
  // At exit LibTorch takes its operators apart one by one, which costs a tenth of a second and changes
  // nothing.
  std::fflush(nullptr);
  std::_Exit(code);
}
