#include "datasets/fetch/content_range.hpp"

#include <algorithm>
#include <charconv>

namespace fedarena {
namespace {

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<ContentRange> content_range(std::string_view header) {
  constexpr std::string_view kName = "content-range:";
  const bool same = header.size() > kName.size() &&
                    std::equal(kName.begin(), kName.end(), header.begin(), [](char wanted, char found) {
                      return wanted == (found >= 'A' && found <= 'Z' ? found - 'A' + 'a' : found);
                    });
  if (!same) return std::nullopt;
  header.remove_prefix(kName.size());
  const std::size_t unit = header.find("bytes ");
  const std::size_t slash = header.find('/');
  if (unit == std::string_view::npos || slash == std::string_view::npos) return std::nullopt;
  return ContentRange{number_at(header.substr(unit + 6)), number_at(header.substr(slash + 1))};
}

}  // namespace fedarena
