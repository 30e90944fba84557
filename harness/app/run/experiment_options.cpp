#include "harness/app/run/experiment_options.hpp"

namespace fedarena {

void add_experiment_options(CLI::App& command, ExperimentOptions& options) {
  command.add_option("FILE", options.file, "the experiment file (TOML)")->required();
  command
      .add_option("--profile", options.profile,
                  "a profile of the file: overrides under a name, applied before --set")
      ->type_name("NAME");
  command
      .add_option("--set", options.overrides,
                  "section.key=value, replaces what the file says; may be repeated")
      ->allow_extra_args(false);
  add_plugin_path(command, options.plugin_path);
}

}  // namespace fedarena
