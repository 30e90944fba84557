#include "fedarena/base/text.hpp"

#include <algorithm>
#include <array>

namespace fedarena {
namespace {

// The length of the well-formed character at the offset, or 0.
std::size_t character_length(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t index) -> std::uint32_t {
    return offset + index < text.size() ? static_cast<unsigned char>(text[offset + index]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// What controls, shows nothing, ends a line or changes the direction of what follows: a name that holds one
// can show itself, and the text around it, as another. Unicode's controls, its Default_Ignorable_Code_Point,
// its ends of lines, and what else of its category Cf has no picture.
constexpr std::array<char32_t, 40> kUnprintable = {
    0x00,   0x1f,   0x7f,    0x9f,    0xad,    0xad,    0x34f,   0x34f,   0x61c,   0x61c,
    0x115f, 0x1160, 0x17b4,  0x17b5,  0x180b,  0x180f,  0x200b,  0x200f,  0x2028,  0x202e,
    0x2060, 0x206f, 0x3164,  0x3164,  0xfe00,  0xfe0f,  0xfeff,  0xfeff,  0xffa0,  0xffa0,
    0xfff0, 0xfffb, 0x13430, 0x1343f, 0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0000, 0xe0fff};

// `kept`: the control characters that stay.
std::string without_controls(std::string_view text, std::string_view kept) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    if (length == 0)
      result += "\xef\xbf\xbd";
    else if (is_in(kUnprintable, code_point(character)) && kept.find(character) == std::string_view::npos)
      result += ' ';
    else
      result += character;
    at += character.size();
  }
  return result;
}

}  // namespace

bool is_folder_name(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  return !text.empty() && text.size() <= kLongest && is_letter_or_digit(text.front()) &&
         std::ranges::all_of(text, [](char letter) {
           return is_letter_or_digit(letter) || letter == '-' || letter == '_' || letter == '.';
         });
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (letter == '\n' || letter == '\t') {
      result += letter == '\n' ? "\\n" : "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

std::string shell_word(std::string_view text) {
  const auto plain = [](char letter) {
    return is_letter_or_digit(letter) || std::string_view("_-./,+:@%").find(letter) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

std::size_t first_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t length = character_length(text, offset);
    if (length == 0) return offset;
    offset += length;
  }
  return offset;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view beginning(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string shortened(std::string_view text, std::size_t bytes) {
  return std::string(beginning(text, bytes)) + (text.size() > bytes ? "..." : "");
}

std::string printable(std::string_view text) { return without_controls(text, "\n\t"); }

std::string one_line(std::string_view text) { return without_controls(text, ""); }

}  // namespace fedarena
