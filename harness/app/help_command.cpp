#include <memory>
#include <string>

#include <fmt/format.h>

#include "harness/app/checks.hpp"
#include "harness/app/commands.hpp"
#include "harness/app/plugins.hpp"
#include "harness/config/help.hpp"
#include "harness/runner/catalog.hpp"

namespace fedarena {

void add_help_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("help", "Explain the experiment file: `fedarena help experiment`.");
  const auto topic = std::make_shared<std::string>("experiment");
  command->add_option("TOPIC", *topic, "what to explain")->check(one_of({"experiment"}));
  command->callback([topic, &action] {
    action = [topic] {
      fmt::print("{}", experiment_help(make_catalog(load_plugins({}))));
      return kSuccess;
    };
  });
}

}  // namespace fedarena
