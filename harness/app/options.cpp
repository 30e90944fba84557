#include "harness/app/options.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena {

CLI::Validator one_of(std::vector<std::string> names) {
  const auto check = [names = std::move(names)](std::string& text) -> std::string {
    if (contains(names, text)) return {};
    return unknown_name(fmt::format("\"{}\" is unknown", text), text, names).what();
  };
  return {check, ""};
}

CLI::Validator whole_number(int least, int most) {
  const auto check = [least, most](std::string& text) -> std::string {
    const auto number = parse_number<int>(text);
    if (number && *number >= least && *number <= most) return {};
    return fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

CLI::Validator positive_number() {
  const auto check = [](std::string& text) -> std::string {
    const auto number = parse_number<double>(text);
    if (number && std::isfinite(*number) && *number > 0) return {};
    return fmt::format("\"{}\" is not a number above 0", text);
  };
  return {check, ""};
}

CLI::Option* add_name(CLI::App& command, const std::string& option, std::string& name,
                      const std::vector<std::string>& names, const std::string& doc) {
  return command.add_option(option, name, doc)->type_name("NAME")->check(one_of(names));
}

CLI::Option* add_names(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                       const std::string& doc) {
  return command.add_option(option, names, doc)
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_format(CLI::App& command, std::string& format, const std::string& doc) {
  add_name(command, "--format", format, {"text", "json"}, doc);
}

void add_workers(CLI::App& command, int& workers) {
  add_count(command, "--workers", workers, 1, 1024,
            "threads, by default one a core; changes the time, never the result");
}

void check_ending(const std::string& option, const std::filesystem::path& file,
                  std::initializer_list<const char*> endings) {
  const std::string name = file.filename().string();
  if (std::ranges::any_of(endings, [&](const char* ending) { return name.ends_with(ending); })) return;
  throw Error(
      Complaint{.place = {.file = file.string()},
                .found = fmt::format("{}: the file's name ends in \"{}\"", option, file.extension().string()),
                .allowed = fmt::format("{}", fmt::join(endings, ", "))});
}

}  // namespace fedarena
