#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// Of ASCII, whatever the locale.
constexpr bool is_letter_or_digit(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9');
}

/// Without blanks and tabs at both ends.
FEDARENA_API std::string_view trimmed(std::string_view text);
/// The text, or its first `bytes` bytes or fewer, cut between characters of UTF-8.
FEDARENA_API std::string_view beginning(std::string_view text, std::size_t bytes);
/// The same, and "..." where it was cut.
FEDARENA_API std::string shortened(std::string_view text, std::size_t bytes);

/// Whether a folder of a run may be called so: see kFolderNameRule.
FEDARENA_API bool is_folder_name(std::string_view text);
inline constexpr const char* kFolderNameRule =
    "letters, digits, '-', '_' and '.', beginning with a letter or digit, at most 100";

/// The text in double quotes, as TOML and messages show it: quotes, backslashes and control characters
/// escaped.
FEDARENA_API std::string quoted(std::string_view text);

/// The text as one word of a shell's command line, for commands that users copy: as it is, or in single
/// quotes, within which a shell reads nothing.
FEDARENA_API std::string shell_word(std::string_view text);

/// The number of one character of well-formed UTF-8.
constexpr char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  char32_t code = character.size() == 1 ? first : first & (0x7fU >> character.size());
  for (const char byte : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3fU);
  return code;
}

/// Whether the character is in one of these stretches: the first and the last one of each, rising.
constexpr bool is_in(std::span<const char32_t> stretches, char32_t code) {
  for (std::size_t i = 0; i < stretches.size() && stretches[i] <= code; i += 2)
    if (code <= stretches[i + 1]) return true;
  return false;
}

/// The offset of the first byte that is not part of well-formed UTF-8 (RFC 3629), or the text's size.
FEDARENA_API std::size_t first_invalid_utf8(std::string_view text);

/// `text` so that it can be shown wherever it came from: line feeds and tabs stay, other control characters
/// (also of a terminal, beginning with U+009B or not), what shows nothing, marks of the direction of writing
/// and Unicode's own ends of lines become spaces, and bytes that are not UTF-8 become U+FFFD.
FEDARENA_API std::string printable(std::string_view text);

/// The same on one line: line feeds and tabs become spaces as well.
FEDARENA_API std::string one_line(std::string_view text);

}  // namespace fedarena
