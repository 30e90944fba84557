#include "results/text.hpp"

#include <algorithm>

namespace fedarena::results {

std::size_t display_width(std::string_view text) {
  const auto starts_code_point = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string padded(std::string_view text, std::size_t width, bool right_aligned) {
  const std::size_t used = display_width(text);
  const std::string spaces(width > used ? width - used : 0, ' ');
  return right_aligned ? spaces + std::string(text) : std::string(text) + spaces;
}

std::string one_line(std::string_view text) {
  std::string result(text);
  const auto is_control = [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; };
  std::replace_if(result.begin(), result.end(), is_control, ' ');
  return result;
}

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

}  // namespace fedarena::results
