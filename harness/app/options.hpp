#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/schema.hpp"

#include "harness/app/commands.hpp"

namespace fedarena {

/// Adds a subcommand that calls `run` with its arguments. Returns it, for its options, and what they fill.
template <typename Arguments>
std::pair<CLI::App&, Arguments&> add_command(CLI::App& app, Action& action, int (*run)(const Arguments&),
                                             const std::string& name, const std::string& doc) {
  CLI::App* command = app.add_subcommand(name, doc);
  const auto arguments = std::make_shared<Arguments>();
  command->callback([arguments, run, &action] { action = [arguments, run] { return run(*arguments); }; });
  return {*command, *arguments};
}

/// Adds an option whose value help calls `type`: "FILE".
template <typename Value>
CLI::Option* add_value(CLI::App& command, const std::string& option, const std::string& type, Value& value,
                       const std::string& doc) {
  return command.add_option(option, value, doc)->type_name(type);
}

/// For an option that takes names with commas between them: each must be one of these.
CLI::Validator one_of(std::vector<std::string> names);

/// Adds an option that takes names with commas between them.
CLI::Option* add_names(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                       const std::string& doc);

/// Takes an option's text; the option is for messages.
using ReadText = std::function<void(const std::string& option, const std::string& text)>;

/// Adds an option whose text `read` takes, which throws Error for what it cannot be.
CLI::Option* add_read(CLI::App& command, const std::string& option, const std::string& type,
                      const std::string& doc, const ReadText& read);

/// The number that a text writes, to the last bit: "0.0256", "1e-5". Throws Error, naming the option, when
/// the text is anything else, not finite, or not what the constraint allows.
double read_number(const std::string& option, const std::string& text, const Constraint& constraint);

/// The same for a whole number from `least` to `most`; up to kMostAccesses it may also be written as "1e9".
std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t most = kMostAccesses);

/// The text. Throws Error, naming the option, unless it is one of the names.
const std::string& read_name(const std::string& option, const std::string& text,
                             const std::vector<std::string>& names);

/// Add an option that read_number(), read_count() or read_name() takes.
CLI::Option* add_number(CLI::App& command, const std::string& option, std::optional<double>& number,
                        const Constraint& constraint, const std::string& doc);
template <typename Number>
CLI::Option* add_count(CLI::App& command, const std::string& option, Number& count, std::int64_t least,
                       std::int64_t most, const std::string& doc) {
  return add_read(command, option, "N", doc, [&count, least, most](const auto& name, const auto& text) {
    count = static_cast<Number>(read_count(name, text, least, most));
  });
}
CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& choice,
                        const std::vector<std::string>& names, const std::string& doc);

/// Adds --format: text or json.
void add_format(CLI::App& command, std::string& format,
                const std::string& doc = "text (the default) or json");

/// Adds --plugin-path.
void add_plugin_path(CLI::App& command, std::vector<std::filesystem::path>& folders);

/// Adds --workers.
void add_workers(CLI::App& command, int& workers);

/// Throws Error, naming the option, where that is a run directory or lies in one, which holds its record and
/// nothing else.
void check_outside_runs(const std::string& option, const std::filesystem::path& output);

/// The same for a file to write, and unless its name ends in one of these: ".png", ".svg".
void check_output(const std::string& option, const std::filesystem::path& file,
                  const std::vector<std::string>& endings);

/// Throws Error, naming the option, where that is a file that the command reads, or lies in such a folder.
void check_not_input(const std::string& option, const std::filesystem::path& output,
                     std::span<const std::filesystem::path> inputs);

}  // namespace fedarena
