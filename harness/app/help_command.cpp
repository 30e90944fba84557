#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

#include "harness/app/accounting/checks.hpp"
#include "harness/app/commands.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/config/sections/help.hpp"
#include "harness/runner/plan/catalog.hpp"

namespace fedarena {

void add_help_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("help", "Explain the experiment file: `fedarena help experiment`.");
  struct Arguments {
    std::string topic = "experiment";
    std::vector<std::filesystem::path> plugin_path;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("TOPIC", arguments->topic, "what to explain")->check(one_of({"experiment"}));
  add_plugin_path(*command, arguments->plugin_path);
  command->callback([arguments, &action] {
    action = [arguments] {
      print("{}", experiment_help(make_catalog(load_plugins(arguments->plugin_path))));
      return kSuccess;
    };
  });
}

}  // namespace fedarena
