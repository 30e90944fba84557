#include "results/number_format.hpp"

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

std::string human_seconds(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0);
}

std::string percent(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

std::string epsilon_text(std::optional<double> epsilon) {
  if (!epsilon) return "none";
  if (std::isinf(*epsilon)) return "∞";
  // Scaling may lift an exact "3.10" by one unit in the last place; that much is not worth a cent of epsilon.
  const double cents = std::ceil(*epsilon * 100 * (1 - 1e-14));
  return fmt::format("{:.2f}", cents / 100);
}

std::string exact_number(double value) { return fmt::format("{}", value); }

}  // namespace fedarena::results
