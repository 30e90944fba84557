#include "results/text/duration_text.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace fedarena::results {

std::string duration_text(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  constexpr double kMost = 1e12;  // beyond any run, within any integer
  const auto whole = static_cast<std::int64_t>(std::llround(std::fmin(seconds, kMost)));
  if (whole < kMinute) return fmt::format("{} s", whole);
  if (whole < kHour) return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  if (whole < kDay) return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  return fmt::format("{} d {:02} h", whole / kDay, whole % kDay / kHour);
}

}  // namespace fedarena::results
