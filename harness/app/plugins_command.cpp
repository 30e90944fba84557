#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/config/sections/help.hpp"
#include "harness/config/sections/sections.hpp"

namespace fedarena {
namespace {

struct PluginsArguments {
  std::string name;
  std::vector<std::filesystem::path> plugin_path;
};

void list_all(const PluginHost& host) {
  std::size_t width = 9;
  for (const AlgorithmInfo& info : host.registry().algorithms()) width = std::max(width, info.name.size());
  print("{:<{}}  {:<16}  {}\n", "algorithm", width, "plugin", "summary");
  for (const AlgorithmInfo& info : host.registry().algorithms()) {
    print("{:<{}}  {:<16}  {}\n", info.name, width, info.plugin, info.description.summary);
  }
  print("\n`fedarena plugins NAME` shows an algorithm's hyper-parameters and its citation.\n");
}

void show(const AlgorithmInfo& info) {
  print("{}: {}\n\n", info.name, info.description.summary);
  print("citation     {}\n", info.description.citation);
  print("server sends {}\n", info.description.downlink);
  print("client sends {}\n", info.description.uplink);
  const std::string& policy = info.description.requires_policy;
  print("policy       {}\n", policy.empty() ? "any" : fmt::format("\"{}\", required", policy));
  if (info.description.requires_proxy) print("proxy data   [proxy], required\n");
  if (info.description.requires_classes) print("data         with classes\n");
  if (info.description.one_round) print("rounds       one\n");
  print("plugin       {} ({})\n\n", info.plugin, info.library);
  print("Hyper-parameters: name, type, default, what is allowed, what it means.\n");
  print("{}", fields_help(info.fields));
}

int run_plugins(const PluginsArguments& arguments) {
  const PluginHost host = load_plugins(arguments.plugin_path).host;
  if (arguments.name.empty()) {
    list_all(host);
  } else {
    show(host.info(arguments.name));
  }
  return kSuccess;
}

struct HelpArguments {
  const CLI::App* program = nullptr;
  std::string topic = "experiment";
  std::string choice;
  std::vector<std::filesystem::path> plugin_path;
};

int print_help(const HelpArguments& arguments) {
  const Catalog catalog = load_plugins(arguments.plugin_path).catalog;
  const auto commands = arguments.program->get_subcommands(
      [&](const CLI::App* command) { return command->get_name() == arguments.topic; });
  const bool is_section = config::find_spec(config::sections(catalog), arguments.topic) != nullptr;
  if (!commands.empty() && !is_section && arguments.choice.empty()) {
    print("{}", commands.front()->help(arguments.program->get_name()));
    return kSuccess;
  }
  const bool whole = arguments.topic == "experiment" && arguments.choice.empty();
  print("{}", whole ? experiment_help(catalog) : section_help(catalog, arguments.topic, arguments.choice));
  return kSuccess;
}

}  // namespace

void add_plugins_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_plugins, "plugins", "List the algorithms, or explain one.");
  command.add_option("NAME", arguments.name, "an algorithm");
  add_plugin_path(command, arguments.plugin_path);
}

void add_help_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, print_help, "help",
                  "Explain the experiment file (`fedarena help experiment`), a section "
                  "of it (`help model`), a choice (`help model resnet`) or a command (`help run`).");
  arguments.program = &app;
  command.add_option("TOPIC", arguments.topic,
                     "a section, or else a command; experiment, the default: the whole file");
  command.add_option("CHOICE", arguments.choice, "one of the section's choices");
  add_plugin_path(command, arguments.plugin_path);
}

}  // namespace fedarena
