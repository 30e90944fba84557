#include "results/text/number_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

ScaledNumber scaled(double number, double step, std::span<const char* const> units) {
  std::size_t unit = 0;
  double factor = 1;
  // From 999.5 on, three digits would round to 1000.
  for (; number >= 999.5 && unit + 1 < units.size(); ++unit) {
    number /= step;
    factor *= step;
  }
  // Rounding may carry into one more digit: 9.996 is "10.0", not "10.00". What is counted is whole, means
  // need not be. Below 1, only bytes have a digit more: of counts, nobody wants it.
  const bool small = number < 0.9995 && step == 1024;
  const int decimals = small ? 3 : number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  const bool whole = unit == 0 && number == std::floor(number);
  std::string digits = fmt::format("{:.{}f}", number, whole ? 0 : decimals);
  const double value = parse_number<double>(digits).value_or(number) * factor;
  return {.digits = std::move(digits), .unit = units[unit], .value = value};
}

// A number with so many decimals, halves away from zero: a mean of decimal numbers, such as 8.675, is in
// binary a little below or above what it is, and would go down or up by chance.
std::string fixed(double number, int decimals) {
  constexpr double kNoise = 1e-9;
  const double scale = std::pow(10, decimals), steps = std::abs(number) * scale;
  const bool is_half = std::abs(steps - std::floor(steps) - 0.5) < kNoise;
  return fmt::format("{:.{}f}", is_half ? std::copysign(std::ceil(steps) / scale, number) : number, decimals);
}

// A number with so many decimals, or significant digits, rounded up (1) or down (-1): read back it is the
// number, or lies on that side of it.
std::string rounded(double number, int digits, bool decimals, int side) {
  const auto nearest = [&](double value) {
    return decimals ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.{}g}", value, digits);
  };
  std::string text = nearest(number);
  const double read = parse_number<double>(text).value_or(number);
  if ((read - number) * side < 0) {
    const double last = decimals ? -digits : std::floor(std::log10(std::abs(number))) - (digits - 1);
    text = nearest(read + side * std::pow(10, last));
  }
  return text;
}

// Four decimals, or as many digits where that is more of them.
std::string four_digits(double number, int side) {
  return rounded(number, 4, number >= 0.1 && number < 1e12, side);
}

// The same as a number.
double rounded_number(double number, int digits, int side) {
  return parse_number<double>(rounded(number, digits, false, side)).value_or(number);
}

}  // namespace

ScaledNumber scaled_bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  return scaled(bytes, 1024, kUnits);
}

std::string human_bytes(double bytes) { return scaled_bytes(bytes).text(); }

ScaledNumber scaled_count(double count) {
  constexpr std::array<const char*, 7> kUnits = {"", " k", " M", " G", " T", " P", " E"};
  return scaled(count, 1000, kUnits);
}

std::string human_count(double count) { return scaled_count(count).text(); }

std::string human_seconds(double seconds) {
  constexpr int kMost = 9;  // no clock tells more
  int decimals = seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0;
  for (double limit = 0.0995; seconds > 0 && seconds < limit && decimals < kMost; limit /= 10) ++decimals;
  return fmt::format("{:.{}f}", seconds, decimals);
}

std::string percent(double fraction) { return fixed(100 * fraction, 2); }

std::string measured(double value) { return measured_beside(value, value); }

std::string measured_beside(double beside, double value) {
  // What diverged has more digits than anybody reads.
  constexpr double kLongest = 1e9;
  if (std::isfinite(value) && std::max(std::abs(beside), std::abs(value)) >= kLongest) {
    return fmt::format("{:.4g}", value);
  }
  int decimals = 0;
  // Rounding may carry into one more digit, as in human_bytes.
  constexpr int kMost = 12;
  const double size = std::abs(beside);
  for (double limit = 999.95; decimals < kMost && size < limit; limit /= 10) ++decimals;
  // What is smaller than that many decimals show.
  if (decimals == kMost && std::abs(value) < 1e-9 && value != 0) return fmt::format("{:.4g}", value);
  return fixed(value, size == 0 || std::isnan(size) ? 3 : decimals);
}

double rounded_up(double number, int digits) { return rounded_number(number, digits, 1); }

double rounded_down(double number, int digits) { return rounded_number(number, digits, -1); }

std::string epsilon_text(double epsilon) { return rounded(epsilon, 2, true, 1); }

std::string epsilon_number(double number) { return four_digits(number, 1); }

std::string lower_bound_number(double number) { return four_digits(number, -1); }

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

std::string short_exponent(std::string text) {
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  const std::size_t first = text.find_first_not_of('0', exponent + 2);
  return text.erase(exponent + 2, first - exponent - 2);
}

std::string short_number(double value) { return short_exponent(exact_number(value)); }

std::string exact_number(double value) { return fmt::format("{}", value); }

}  // namespace fedarena::results
