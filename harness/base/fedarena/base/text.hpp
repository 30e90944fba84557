#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// The whole of `text` as one number of that type; none where it is anything else: blanks, a sign "+",
/// something behind it, or a number that the type cannot hold. No locale plays a part, and reals are rounded
/// correctly.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stopped != end) return std::nullopt;
  return number;
}

/// "1 round", "2 rounds". `more` is the word for several, where it is not the word for one and an s:
/// "classes".
template <typename Count>
std::string counted(Count count, std::string_view one, std::string_view more = {}) {
  if (count == Count{1}) return fmt::format("1 {}", one);
  return more.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, more);
}

/// The text in double quotes, as TOML and messages show it: quotes, backslashes and control characters
/// escaped.
FEDARENA_API std::string quoted(std::string_view text);

}  // namespace fedarena
