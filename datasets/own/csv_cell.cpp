#include "datasets/own/csv_cell.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <regex>

#include <fmt/format.h>

namespace fedarena {
namespace {

// A double tells all numbers of so many digits apart.
constexpr std::size_t kExactDigits = 15;
constexpr std::string_view kUnbrokenBlank = "\xc2\xa0";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::optional<double> number_of(std::string_view text, char decimal) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::string with_point;
  if (decimal != '.') {
    if (text.find('.') != std::string_view::npos) return std::nullopt;
    with_point = text;
    if (const auto at = with_point.find(decimal); at != std::string::npos) with_point[at] = '.';
    text = with_point;
  }
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number);
  if (text.empty() || stopped != end) return std::nullopt;
  // Too large and too small are the same failure.
  if (failure != std::errc()) number = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool resembles_number(std::string_view text) {
  static const std::regex kForm(
      "[+-]?(\\$|€|£|¥)? ?[+-]?(\\d{1,3}([,.' _]\\d{3})+|\\d*)([.,]?\\d*)?(e[+-]?\\d+)? ?(%|\\$|€|£|¥)?",
      std::regex::icase | std::regex::optimize);
  text = trimmed(text);
  // Longer ones are none, and would keep the search busy.
  if (text.size() > 40 || text.find_first_of("0123456789") == std::string_view::npos) return false;
  return std::regex_match(text.begin(), text.end(), kForm);
}

std::optional<bool> truth_of(std::string_view text) {
  text = trimmed(text);
  if (text.size() != 4 && text.size() != 5) return std::nullopt;
  const std::string word = lower(text);
  if (word == "true") return true;
  if (word == "false") return false;
  return std::nullopt;
}

std::string essence_of(std::string_view name, bool any_case) {
  if (name.size() <= kExactDigits) {
    if (const std::optional<double> number = number_of(name)) return fmt::format("{}", *number + 0.0);
  }
  std::string essence(name);
  for (std::size_t at = 0; (at = essence.find(kUnbrokenBlank, at)) != std::string::npos;)
    essence.erase(at, kUnbrokenBlank.size());
  std::erase_if(essence, [](char letter) { return letter == ' ' || letter == '\t'; });
  if (essence.size() > 1 && essence.ends_with('.')) essence.pop_back();
  return any_case && essence.size() > 1 ? lower(essence) : essence;
}

}  // namespace fedarena
