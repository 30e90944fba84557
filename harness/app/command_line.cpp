#include "harness/app/command_line.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"

#include "harness/config/syntax/document.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  return names_of(app.get_subcommands({}), &CLI::App::get_name);
}

// Of an option that other programs have and an experiment file says: its "section.key", or empty.
std::string key_of_experiment(std::string option) {
  static const std::map<std::string_view, std::string_view> kKeys{
      {"rounds", "experiment.rounds"},
      {"seeds", "experiment.seeds"},
      {"data", "data.name"},
      {"partition", "partition.kind"},
      {"kind", "partition.kind"},
      {"alpha", "partition.alpha"},
      {"clients", "partition.clients"},
      {"model", "model.name"},
      {"cohort", "cohort.size"},
      {"size", "cohort.size"},
      {"fraction", "cohort.fraction"},
      {"rate", "training.rate"},
      {"local_epochs", "training.local_epochs"},
      {"local_steps", "training.local_steps"},
      {"batch_size", "training.batch_size"},
      {"momentum", "training.momentum"},
      {"weight_decay", "training.weight_decay"},
      {"policy", "privacy.policy"},
      {"noise_multiplier", "privacy.noise_multiplier"},
      {"clip_norm", "privacy.clip_norm"},
      {"delta", "privacy.delta"},
  };
  option.erase(0, option.find_first_not_of('-'));
  std::ranges::replace(option, '-', '_');
  const std::string ours = config::our_name(option);
  const auto key = kKeys.find(ours.empty() ? option : ours);
  return key == kKeys.end() ? std::string() : std::string(key->second);
}

// What is wrong with the command line. CLI11 neither tells an unknown command from a missing one nor knows
// what was probably meant.
Complaint complaint_about(const CLI::App& app, const std::vector<std::string>& words,
                          const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string spelled = "fedarena";
  std::vector<std::string> commands = commands_of(app);
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.rfind("--", 0) == 0) {
      std::vector<std::string> options;
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
      }
      const std::string option = word.substr(0, word.find('='));
      if (contains(options, option)) continue;
      Complaint complaint =
          unknown_name(fmt::format("unknown option \"{}\"", option), option, options).complaint();
      const std::string key = key_of_experiment(option);
      if (!key.empty() && contains(options, std::string("--set"))) {
        complaint.nearest.clear();
        complaint.remedy =
            fmt::format("the experiment file says it; --set {}=VALUE replaces what it says", key);
      }
      return complaint;
    }
    if (commands.empty() || word.rfind('-', 0) == 0) continue;
    if (!contains(commands, word)) {
      return unknown_name(fmt::format("unknown command \"{}\"", word), word, commands).complaint();
    }
    command = command->get_subcommand(word);
    spelled += " " + word;
    commands = commands_of(*command);
  }
  if (!commands.empty()) return {.found = "no command is given", .allowed = join_names(commands)};
  return {.found = error.what(), .remedy = fmt::format("`{} --help` explains the command.", spelled)};
}

// No file, folder or word is called "": a shell makes it of a variable that is not set.
void refuse_empty_values(const CLI::App& command, const std::string& spelled) {
  for (const CLI::Option* option : command.get_options()) {
    if (!contains(option->results(), std::string())) continue;
    throw Error(Complaint{.found = fmt::format("{}: the value is empty", option->get_name()),
                          .remedy = fmt::format("`{} --help` explains the command.", spelled)});
  }
  for (const CLI::App* called : command.get_subcommands()) {
    refuse_empty_values(*called, spelled + " " + called->get_name());
  }
}

int parse_and_run(int count, const char* const* arguments, std::span<const AddCommand> commands,
                  const char* version) {
  CLI::App app("fedarena: a benchmark harness for federated learning under differential privacy.",
               "fedarena");
  app.set_version_flag("--version", fmt::format("fedarena {}", version));
  app.require_subcommand(1);
  app.footer("`fedarena COMMAND --help` explains a command, `fedarena help experiment` the experiment file.");
  Action action;
  for (const AddCommand add : commands) add(app, action);
  int code = kSuccess;
  try {
    app.parse(count, arguments);
    refuse_empty_values(app, "fedarena");
    code = action();
  } catch (const CLI::Success& asked_for_help) {
    std::ostringstream text;
    code = app.exit(asked_for_help, text, text);
    print("{}", text.str());
  } catch (const CLI::ParseError& wrong) {
    throw Error(complaint_about(app, {arguments + 1, arguments + count}, wrong));
  }
  // What is buffered would fail unseen after main.
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed || std::ferror(stdout) != 0) {
    // The reason of an earlier write is gone.
    const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
    throw Error::of("the output cannot be written{}", reason);
  }
  return code;
}

// Names of files and words that a user typed may hold line feeds and the codes of a terminal.
std::string message(const Error& error) {
  Complaint complaint = error.complaint();
  complaint.place.file = results::one_line(complaint.place.file);
  complaint.found = results::one_line(complaint.found);
  complaint.allowed = results::one_line(complaint.allowed);
  return Error(std::move(complaint)).what();
}

// Of memory, threads or other things of the machine. LibTorch and oneTBB have words of their own for it.
bool is_shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (const auto* failure = dynamic_cast<const std::system_error*>(&error)) {
    return failure->code() == std::errc::resource_unavailable_try_again ||
           failure->code() == std::errc::not_enough_memory ||
           failure->code() == std::errc::too_many_files_open;
  }
  const std::string_view what = error.what();
  return what.find("can't allocate memory") != std::string_view::npos ||
         what.find("CUDA out of memory") != std::string_view::npos ||
         what.find("CUDA error: out of memory") != std::string_view::npos ||
         what.find("a GPU has no memory left") != std::string_view::npos ||
         what.find("pthread_create has failed") != std::string_view::npos;
}

// A file or folder that nobody looked at with care: one may not enter it, its name is too long, it is gone.
Error error_of(const std::filesystem::filesystem_error& failure) {
  const std::string file = failure.path1().string(), other = failure.path2().string();
  // Of what could not be done without a path, the base class has the words.
  if (file.empty()) return Error(Complaint{.found = failure.std::system_error::what()});
  const std::string reason = failure.code().message();
  return Error::in(file, other.empty() ? reason : fmt::format("{} ({})", reason, other));
}

std::string shortage_text(const std::string& what) {
  return fmt::format(
      "the machine has no more memory or threads for this ({})\n  What was complete is kept. Use fewer "
      "--jobs "
      "and --workers, a smaller model or cohort, or raise the limit (ulimit -a, or the job's).",
      what.substr(0, what.find('\n')));
}

std::terminate_handler usual_end = nullptr;

// oneTBB's threads start one another, where nobody can catch what is thrown, nor in a plugin's own threads
// and deleters.
[[noreturn]] void end_by_shortage_or_bug() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    print(stderr, "fedarena: {}\n", message(error));
    std::_Exit(kUserError);
  } catch (const std::exception& thrown) {
    if (is_shortage(thrown)) {
      print(stderr, "fedarena: {}\n", shortage_text(thrown.what()));
      std::_Exit(kUserError);
    }
  } catch (...) {  // the usual end tells of whatever it is
  }
  if (usual_end != nullptr) usual_end();
  std::abort();
}

}  // namespace

int run_command_line(int count, const char* const* arguments, std::span<const AddCommand> commands,
                     const char* version) {
  // A file that reaches the limit of `ulimit -f` is then a write that fails, with a message that names it.
  std::signal(SIGXFSZ, SIG_IGN);
  usual_end = std::set_terminate(end_by_shortage_or_bug);
  try {
    return parse_and_run(count, arguments, commands, version);
  } catch (const Error& error) {
    print(stderr, "fedarena: {}\n", message(error));
    return kUserError;
  } catch (const Interrupted&) {  // by a command that has nothing more to say about it
    print(stderr, "Stopped.\n");
    return kInterrupted;
  } catch (const std::exception& bug) {
    const std::string what = bug.what();
    if (is_shortage(bug)) {
      print(stderr, "fedarena: {}\n", shortage_text(what));
      return kUserError;
    }
    if (const auto* failure = dynamic_cast<const std::filesystem::filesystem_error*>(&bug)) {
      print(stderr, "fedarena: {}\n", message(error_of(*failure)));
      return kUserError;
    }
    print(stderr, "fedarena: this is a bug, please report it: {}\n", what.substr(0, what.find('\n')));
    return kBug;
  }
}

std::span<const AddCommand> light_commands() {
  static constexpr std::array kCommands = {
      add_table_command,   add_compare_command, add_list_command, add_watch_command,  add_verify_command,
      add_privacy_command, add_images_command,  add_plot_command, add_report_command, add_export_command,
      add_bundle_command,  add_epsilon_command, add_noise_command};
  return kCommands;
}

bool is_light_command(std::span<const char* const> words) {
  if (words.empty()) return false;
  CLI::App app;
  Action action;
  for (const AddCommand add : light_commands()) add(app, action);
  const std::vector<CLI::App*> commands = app.get_subcommands({});
  const auto is_called = [&](const CLI::App* command) { return command->get_name() == words.front(); };
  const auto asks_for_data = [](std::string_view word) { return word.starts_with("--data"); };
  return std::ranges::any_of(commands, is_called) && std::ranges::none_of(words, asks_for_data);
}

}  // namespace fedarena
