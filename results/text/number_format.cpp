#include "results/text/number_format.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace fedarena::results {

std::string human_bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  // From 999.5 on, three digits would round to 1000.
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  // Rounding may carry into one more digit: 9.996 is "10.0", not "10.00". Bytes are whole, their means need
  // not be.
  const int decimals = bytes < 0.9995 ? 3 : bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0;
  const bool whole = unit == 0 && bytes == std::floor(bytes);
  return fmt::format("{:.{}f} {}", bytes, whole ? 0 : decimals, kUnits[unit]);
}

std::string human_count(double count) {
  constexpr std::array<const char*, 7> kUnits = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t unit = 0;
  while (count >= 999.5 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  const int decimals = count < 9.995 ? 2 : count < 99.95 ? 1 : 0;
  const bool whole = unit == 0 && count == std::floor(count);
  return fmt::format("{:.{}f}{}", count, whole ? 0 : decimals, kUnits[unit]);
}

std::string human_seconds(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0);
}

std::string percent(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

std::string measured(double value) { return measured_beside(value, value); }

std::string measured_beside(double beside, double value) {
  int decimals = 0;
  // Rounding may carry into one more digit, as in human_bytes.
  for (double limit = 999.95; decimals < 12 && beside < limit; limit /= 10) ++decimals;
  return fmt::format("{:.{}f}", value, beside == 0 || std::isnan(beside) ? 3 : decimals);
}

std::string epsilon_text(double epsilon) {
  if (std::isinf(epsilon)) return "inf";
  std::string text = fmt::format("{:.2f}", epsilon);  // the nearest
  if (std::stod(text) < epsilon) text = fmt::format("{:.2f}", std::stod(text) + 0.01);
  return text;
}

std::string short_number(double value) {
  std::string text = exact_number(value);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  while (text.size() > exponent + 3 && text[exponent + 2] == '0') text.erase(exponent + 2, 1);
  return text;
}

std::string exact_number(double value) { return fmt::format("{}", value); }

}  // namespace fedarena::results
