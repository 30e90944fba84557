#include "results/text/html.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

// The JSON writer replaces what is not UTF-8, and its reader gives the text back.
std::string as_utf8(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return Json::parse(json_text(Json(text), -1)).get<std::string>();
}

bool is_control(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return (code < 0x20 && byte != '\n' && byte != '\t') || code == 0x7F;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char letter : as_utf8(text)) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += is_control(letter) ? ' ' : letter;
    }
  }
  return result;
}

std::string html_element(std::string_view name, std::string_view text, std::string_view attributes) {
  return fmt::format("<{}{}{}>{}</{}>", name, attributes.empty() ? "" : " ", attributes, html_escaped(text),
                     name);
}

std::string json_for_script(std::string_view json) {
  std::string result;
  for (const char letter : json) {
    // Inside JSON these stand in texts alone. The first would let a text end the script.
    if (letter == '<') {
      result += "\\u003c";
    } else if (letter == '>') {
      result += "\\u003e";
    } else if (letter == '&') {
      result += "\\u0026";
    } else {
      result += letter;
    }
  }
  return result;
}

}  // namespace fedarena::results
