#include "harness/app/accounting/checks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/text/text.hpp"

namespace fedarena {

CLI::Validator one_of(std::vector<std::string> names) {
  const auto check = [names = std::move(names)](std::string& text) -> std::string {
    if (std::find(names.begin(), names.end(), text) != names.end()) return {};
    return Error(Complaint{.found = fmt::format("\"{}\" is unknown", text),
                           .allowed = join_names(names),
                           .nearest = nearest_name(text, names)})
        .what();
  };
  return {check, ""};
}

void check_name(const std::string& option, const std::string& text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return;
  throw Error(Complaint{.found = results::one_line(fmt::format("{}: \"{}\" is unknown", option, text)),
                        .allowed = join_names(names),
                        .nearest = nearest_name(text, names)});
}

void check_ending(const std::string& option, const std::filesystem::path& file,
                  const std::vector<std::string>& endings) {
  const std::string ending = file.extension().string();
  if (std::find(endings.begin(), endings.end(), ending) != endings.end()) return;
  throw Error(Complaint{.place = {.file = file.string()},
                        .found = fmt::format("{}: the file's name ends in \"{}\"", option, ending),
                        .allowed = join_names(endings)});
}

CLI::Validator whole_number(int least, int most) {
  const auto check = [least, most](std::string& text) -> std::string {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, number);
    if (failure == std::errc() && stopped == end && number >= least && number <= most) return {};
    return fmt::format("\"{}\" is no whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

CLI::Validator positive_number() {
  const auto check = [](std::string& text) -> std::string {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, number);
    if (failure == std::errc() && stopped == end && std::isfinite(number) && number > 0) return {};
    return fmt::format("\"{}\" is no number above 0", text);
  };
  return {check, ""};
}

}  // namespace fedarena
