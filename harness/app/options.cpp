#include "harness/app/options.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <system_error>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/find_runs.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

[[noreturn]] void refuse_number(const std::string& option, const std::string& text, std::string allowed) {
  throw Error(Complaint{.found = results::one_line(fmt::format("{} is \"{}\"", option, text)),
                        .allowed = std::move(allowed)});
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> names) {
  const auto check = [names = std::move(names)](std::string& text) -> std::string {
    if (contains(names, text)) return {};
    return unknown_name(fmt::format("\"{}\" is unknown", text), text, names).what();
  };
  return {check, ""};
}

CLI::Option* add_names(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                       const std::string& doc) {
  return command.add_option(option, names, doc)
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option* add_read(CLI::App& command, const std::string& option, const std::string& type,
                      const std::string& doc, const ReadText& read) {
  return command
      .add_option_function<std::string>(
          option, [option, read](const std::string& text) { read(option, text); }, doc)
      ->type_name(type);
}

double read_number(const std::string& option, const std::string& text, const Constraint& constraint) {
  const std::optional<double> number = parse_number<double>(text);
  if (!number || !constraint.holds(Value(*number)))
    refuse_number(option, text, constraint.allowed(Value(0.0)));
  return *number;
}

std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t most) {
  std::optional<std::int64_t> count = parse_number<std::int64_t>(text);
  if (!count) {
    const std::optional<double> number = parse_number<double>(text);
    if (number && std::abs(*number) <= static_cast<double>(kMostAccesses) && *number == std::floor(*number))
      count = static_cast<std::int64_t>(*number);
  }
  if (!count || *count < least || *count > most)
    refuse_number(option, text, fmt::format("a whole number from {} to {}", least, most));
  return *count;
}

const std::string& read_name(const std::string& option, const std::string& text,
                             const std::vector<std::string>& names) {
  if (contains(names, text)) return text;
  throw unknown_name(results::one_line(fmt::format("{}: \"{}\" is unknown", option, text)), text, names);
}

CLI::Option* add_number(CLI::App& command, const std::string& option, std::optional<double>& number,
                        const Constraint& constraint, const std::string& doc) {
  return add_read(command, option, "NUMBER", doc, [&number, constraint](const auto& name, const auto& text) {
    number = read_number(name, text, constraint);
  });
}

CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& choice,
                        const std::vector<std::string>& names, const std::string& doc) {
  return add_read(command, option, "NAME", doc, [&choice, names](const auto& name, const auto& text) {
    choice = read_name(name, text, names);
  });
}

void add_format(CLI::App& command, std::string& format, const std::string& doc) {
  add_choice(command, "--format", format, {"text", "json"}, doc);
}

void add_workers(CLI::App& command, int& workers) {
  add_count(command, "--workers", workers, 1, 1024,
            "threads, by default one a core; changes the time, never the result");
}

void check_outside_runs(const std::string& option, const std::filesystem::path& output) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (fs::path folder = fs::weakly_canonical(fs::absolute(output, ignored), ignored);
       folder.has_relative_path(); folder = folder.parent_path()) {
    if (!results::is_run_directory(folder)) continue;
    const fs::path from_here = fs::proximate(folder, ignored);
    const bool is_below = !from_here.empty() && *from_here.begin() != "..";
    throw Error::in(
        output,
        fmt::format("{}: lies in the run directory {}", option, (is_below ? from_here : folder).string()),
        {.remedy = "choose a place outside the runs"});
  }
}

void check_output(const std::string& option, const std::filesystem::path& file,
                  const std::vector<std::string>& endings) {
  const std::string name = file.filename().string();
  const auto has = [&](std::string_view ending) { return name.ends_with(ending) && name != ending; };
  if (std::ranges::any_of(endings, has)) return check_outside_runs(option, file);
  throw Error::in(file,
                  std::ranges::count(endings, name) > 0
                      ? fmt::format("{}: the file's name is \"{}\" alone", option, name)
                      : fmt::format("{}: the file's name ends in \"{}\"", option, file.extension().string()),
                  {.allowed = fmt::format("{}", fmt::join(endings, ", "))});
}

void check_not_input(const std::string& option, const std::filesystem::path& output,
                     std::span<const std::filesystem::path> inputs) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // what is not there yet is no input
  const fs::path whole = fs::weakly_canonical(fs::absolute(output, ignored), ignored);
  for (const fs::path& input : inputs) {
    bool is_read = fs::equivalent(output, input, ignored);
    for (fs::path folder = whole.parent_path();
         !is_read && fs::is_directory(input, ignored) && folder.has_relative_path();
         folder = folder.parent_path()) {
      is_read = fs::equivalent(folder, input, ignored);
    }
    if (is_read) {
      throw Error::in(output,
                      fmt::format("{}: would change {}, which the command reads", option, input.string()),
                      {.remedy = "choose another place"});
    }
  }
}

void add_plugin_path(CLI::App& command, std::vector<std::filesystem::path>& folders) {
  command.add_option("--plugin-path", folders, "folder with further plugins; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace fedarena
