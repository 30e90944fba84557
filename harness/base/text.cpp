#include "fedarena/base/text.hpp"

namespace fedarena {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

}  // namespace fedarena
