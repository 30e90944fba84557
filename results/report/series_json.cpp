#include "results/report/series_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "results/json_fields.hpp"

namespace fedarena::results {
namespace {

// More than a screen can show, and what tooltips say.
constexpr int kDigits = 5;
constexpr int kDigitsOfRounds = 15;

// Without signs and zeros that an exponent does not need: 1e+06 is 1e6.
std::string number_json(double number, int digits) {
  if (std::isnan(number)) return "null";
  std::string text = fmt::format("{:.{}g}", number, digits);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  const std::size_t first = text.find_first_not_of('0', exponent + 2);
  text.erase(exponent + 2, first - exponent - 2);
  if (text[exponent + 1] == '+') text.erase(exponent + 1, 1);
  return text;
}

bool has_numbers(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double number) { return !std::isnan(number); });
}

bool is_linear(std::span<const double> numbers, int digits) {
  if (numbers.size() < 3 || std::isnan(numbers[0]) || std::isnan(numbers[1])) return false;
  const double step = numbers[1] - numbers[0];
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double expected = numbers[0] + static_cast<double>(i) * step;
    if (number_json(numbers[i], digits) != number_json(expected, digits)) return false;
  }
  return true;
}

std::string member(const std::string& name, const std::string& value, bool first) {
  return fmt::format("{}{}:{}", first ? "" : ",", json_text(name, -1), value);
}

std::string values_json(const RowSeries::Values& values) {
  std::string both = "{\"mean\":" + numbers_json(values.mean, kDigits);
  if (!values.std.empty()) both += ",\"std\":" + numbers_json(values.std, kDigits);
  return both + "}";
}

}  // namespace

std::string numbers_json(std::span<const double> numbers, int digits) {
  if (is_linear(numbers, digits)) {
    return fmt::format("{{\"from\":{},\"step\":{},\"count\":{}}}", numbers[0], numbers[1] - numbers[0],
                       numbers.size());
  }
  std::string text = "[";
  for (const double number : numbers) {
    if (text.size() > 1) text += ',';
    text += number_json(number, digits);
  }
  return text + "]";
}

std::string series_json(const RowSeries& series) {
  const std::vector<double> rounds(series.rounds.begin(), series.rounds.end());
  std::string text = fmt::format("{{\"rounds\":{},\"x\":{{", numbers_json(rounds, kDigitsOfRounds));
  bool first = true;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!has_numbers(series.x[i])) continue;
    text += member(std::to_string(i), numbers_json(series.x[i], kDigits), first);
    first = false;
  }
  text += "},\"y\":{";
  first = true;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!has_numbers(series.y[i].mean)) continue;
    text += member(std::to_string(i), values_json(series.y[i]), first);
    first = false;
  }
  if (series.observed.empty()) return text + "}}";
  text += "},\"observed\":{";
  first = true;
  for (const auto& [name, values] : series.observed) {
    text += member(name, values_json(values), first);
    first = false;
  }
  return text + "}}";
}

}  // namespace fedarena::results
