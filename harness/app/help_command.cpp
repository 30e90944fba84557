#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/config/sections/help.hpp"
#include "harness/runner/plan/catalog.hpp"

namespace fedarena {
namespace {

struct HelpArguments {
  std::string topic = "experiment";
  std::vector<std::filesystem::path> plugin_path;
};

int print_help(const HelpArguments& arguments) {
  print("{}", experiment_help(make_catalog(load_plugins(arguments.plugin_path))));
  return kSuccess;
}

}  // namespace

void add_help_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(app, action, print_help, "help",
                                                "Explain the experiment file: `fedarena help experiment`.");
  command.add_option("TOPIC", arguments.topic, "what to explain")->check(one_of({"experiment"}));
  add_plugin_path(command, arguments.plugin_path);
}

}  // namespace fedarena
