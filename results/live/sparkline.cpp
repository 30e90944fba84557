#include "results/live/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace fedarena::results {
namespace {

constexpr std::size_t kHeights = 8;
constexpr std::array<std::string_view, kHeights> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, kHeights> kMarks = {".", ":", "-", "=", "+", "*", "#", "@"};

std::size_t height(double value, double lowest, double highest) {
  if (lowest == highest) return kHeights / 2 - 1;
  // Halves, because the difference of two doubles may be none.
  const double share = (value / 2 - lowest / 2) / (highest / 2 - lowest / 2);
  return std::min(kHeights - 1, static_cast<std::size_t>(share * kHeights));
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width, Letters letters) {
  const std::size_t count = std::min(width, values.size());
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[(i + 1) * values.size() / count - 1];
    if (!std::isfinite(value)) {
      line += '!';
      continue;
    }
    line += (letters == Letters::kUnicode ? kBlocks : kMarks)[height(value, lowest, highest)];
  }
  return line;
}

}  // namespace fedarena::results
