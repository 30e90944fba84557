// The command line: parses arguments, calls a command, and turns what it throws into a message and an exit code.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "harness/app/commands.hpp"

namespace fedarena {
namespace {

// CLI11 says that an argument was not expected; this adds what was probably meant.
std::string suggestion(const CLI::App& app, int count, char** arguments) {
  const CLI::App* place = &app;
  for (int index = 1; index < count; ++index) {
    const std::string word = arguments[index];
    std::vector<std::string> names;
    if (word.rfind("--", 0) == 0) {
      for (const CLI::Option* option : place->get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      }
    } else if (place == &app) {
      for (const CLI::App* command : app.get_subcommands({})) {
        names.push_back(command->get_name());
        if (command->get_name() == word) place = command;
      }
    } else {
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    const std::string nearest = nearest_name(name, names);
    if (!nearest.empty() && nearest != name) return fmt::format("; did you mean \"{}\"?", nearest);
  }
  return {};
}

int run(int count, char** arguments) {
  CLI::App app("fedarena: a benchmark harness for federated learning under differential privacy.", "fedarena");
  app.set_version_flag("--version", "fedarena " FEDARENA_VERSION);
  app.require_subcommand(1);
  app.footer("`fedarena COMMAND --help` explains a command, `fedarena help experiment` the experiment file.");
  Action action;
  add_run_command(app, action);
  add_table_command(app, action);
  add_list_command(app, action);
  add_plugins_command(app, action);
  add_help_command(app, action);
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::ParseError& wrong) {
    fmt::print(stderr, "fedarena: {}{}\n  `fedarena --help` lists the commands.\n", wrong.what(),
               suggestion(app, count, arguments));
    return kUserError;
  }
  const int code = action();
  // What is buffered would fail unseen after main.
  if (std::fflush(stdout) != 0) {
    throw Error::of("the output cannot be written: {}", std::generic_category().message(errno));
  }
  return code;
}

}  // namespace
}  // namespace fedarena

int main(int count, char** arguments) {
  try {
    return fedarena::run(count, arguments);
  } catch (const fedarena::Error& error) {
    fmt::print(stderr, "fedarena: {}\n", error.what());
    return fedarena::kUserError;
  } catch (const std::exception& bug) {
    const std::string what = bug.what();
    fmt::print(stderr, "fedarena: this is a bug, please report it: {}\n", what.substr(0, what.find('\n')));
    return fedarena::kBug;
  }
}
