#include "datasets/own/csv_cell.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <unordered_map>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "datasets/own/lookalikes.hpp"

namespace fedarena {
namespace {

// Nobody writes names with longer exponents.
constexpr std::size_t kLongestExponent = 6;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

bool is_digit(char letter) { return '0' <= letter && letter <= '9'; }

// A decimal number in one form, whatever its zeros and exponent and however many digits it has: "15e-1" for
// "01.50". None for anything else.
std::optional<std::string> one_form(std::string_view text, char decimal) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  std::int64_t exponent = 0;
  if (end < text.size()) {
    std::string_view power = text.substr(end + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const std::optional<std::int64_t> known = parse_number<std::int64_t>(power);
    if (!known || power.size() > kLongestExponent) return std::nullopt;
    exponent = *known;
  }
  std::string digits(text.substr(0, end));
  const auto is_point = [&](char letter) { return letter == '.' || letter == decimal; };
  if (const auto point = std::ranges::find_if(digits, is_point); point != digits.end()) {
    exponent -= digits.end() - point - 1;
    digits.erase(point);
  }
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
  const std::size_t begin = digits.find_first_not_of('0');
  if (begin == std::string::npos) return "0";
  const std::size_t behind = digits.find_last_not_of('0') + 1;
  exponent += static_cast<std::int64_t>(digits.size() - behind);
  return fmt::format("{}{}{}", negative ? "-" : "", digits.substr(begin, behind - begin),
                     exponent == 0 ? "" : fmt::format("e{}", exponent));
}

}  // namespace

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
  // Longer ones are none, and would keep the search busy.
  if (text.find_first_of("0123456789") == std::string_view::npos || trimmed(text).size() > 80) return false;
  const std::string typed = as_typed(text);
  const std::string_view form = trimmed(typed);
  return form.size() <= 40 && std::regex_match(form.begin(), form.end(), kForm);
}

std::optional<bool> truth_of(std::string_view text) {
  text = trimmed(text);
  if (text.size() != 4 && text.size() != 5) return std::nullopt;
  const std::string word = lower(text);
  if (word == "true") return true;
  if (word == "false") return false;
  return std::nullopt;
}

std::string essence_of(std::string_view name, bool any_case, char decimal) {
  std::string essence = as_seen(name);
  if (std::optional<std::string> number = one_form(as_typed(essence), decimal)) return *number;
  if (essence.size() > 1 && essence.ends_with('.')) essence.pop_back();
  if (!any_case || seen_letters(essence) < 2) return essence;
  if (const std::optional<bool> truth = truth_of(essence)) return *truth ? "1" : "0";
  return lower(essence);
}

std::optional<std::pair<std::size_t, std::size_t>> alike_names(const std::vector<std::string>& names,
                                                               bool any_case, char decimal) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [entry, fresh] = known.emplace(essence_of(names[i], any_case, decimal), i);
    if (!fresh) return std::pair(i, entry->second);
  }
  return std::nullopt;
}

std::string names_told_apart(bool any_case) {
  return fmt::format(
      "names that differ in more than blanks, what cannot be seen, {}a full stop at the end, or how {} and "
      "accents are written",
      any_case ? "capitals, " : "", any_case ? "numbers, True, False" : "numbers");
}

}  // namespace fedarena
