#include "harness/config/sections/slurm_section.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "fedarena/base/text.hpp"

#include "harness/config/sections/sections.hpp"

namespace fedarena::config {
namespace {

// What `submit` sets itself, and what would have something executed that a file names: a command, another
// environment (BASH_ENV, LD_PRELOAD), another root of the file system; and what queues nothing, or elsewhere.
// sbatch takes the beginning of a name for the whole.
constexpr std::array<std::string_view, 26> kReserved = {
    "bb",           "bbf",       "array",     "chdir",
    "dependency",   "error",     "clusters",  "help",
    "usage",        "version",   "export",    "export-file",
    "get-user-env", "input",     "job-name",  "kill-on-invalid-dep",
    "no-requeue",   "open-mode", "output",    "parsable",
    "requeue",      "signal",    "test-only", "wait",
    "wrap",         "workdir"};
constexpr std::string_view kContainer = "container";
constexpr std::size_t kLongestValue = 1000;

void check_name(const Setting& setting) {
  const std::string& name = setting.key;
  const bool letters = name.size() > 1 && name.front() != '-' && std::ranges::all_of(name, [](char letter) {
                         return ('a' <= letter && letter <= 'z') || letter == '-';
                       });
  if (!letters) {
    complain({.place = setting.place,
              .found = fmt::format("{} is not the name of an option of sbatch", in_quotes(name)),
              .allowed = "the long name: small letters and dashes, such as mem-per-cpu"});
  }
  const bool reserved =
      std::ranges::any_of(kReserved, [&](std::string_view other) { return other.starts_with(name); });
  if (reserved || name.starts_with(kContainer) || kContainer.starts_with(name)) {
    complain(
        {.place = setting.place,
         .found = fmt::format("{} is not an option that a file may set", in_quotes(name)),
         .allowed = "any but those that submit sets itself, name something to execute or queue nothing here",
         .remedy = "leave it out"});
  }
}

// The text of a value; nothing where it is none.
std::string value_of(const Setting& setting) {
  const ParsedValue& written = setting.written;
  const auto* text = written.get<std::string>();
  const auto* number = written.get<std::int64_t>();
  if (number != nullptr) return fmt::format("{}", *number);
  if (text != nullptr && !text->empty() && text->size() <= kLongestValue && one_line(*text) == *text)
    return *text;
  complain(
      {.place = written.place,
       .found = fmt::format("{} is {}", setting.key, written.text()),
       .allowed = fmt::format("true, false, an integer, or one line of at most {} bytes", kLongestValue)});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> sbatch_options(const Document& document) {
  std::vector<std::pair<std::string, std::string>> options;
  const Table* table = document.table(kSlurm);
  if (table == nullptr) return options;
  for (const Setting& setting : table->settings) {
    check_name(setting);
    const auto* flag = setting.written.get<bool>();
    if (flag == nullptr) options.emplace_back(setting.key, value_of(setting));
    if (flag != nullptr && *flag) options.emplace_back(setting.key, "");
  }
  return options;
}

}  // namespace fedarena::config
