#include "results/report/series_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/record/json_fields.hpp"

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

// Every list once, in the order in which they came.
class Lists {
 public:
  // The position of the list.
  std::size_t add(std::string list) {
    const auto [found, is_new] = positions_.try_emplace(std::move(list), lists_.size());
    if (is_new) lists_.push_back(found->first);
    return found->second;
  }
  std::string json() const { return fmt::format("[{}]", fmt::join(lists_, ",")); }

 private:
  std::unordered_map<std::string, std::size_t> positions_;
  std::vector<std::string_view> lists_;  // keys of the map, which stay where they are
};

Json add_values(Lists& lists, const RowSeries::Values& values) {
  Json both = {{"mean", lists.add(numbers_json(values.mean, kDigits))}};
  if (!values.std.empty()) both["std"] = lists.add(numbers_json(values.std, kDigits));
  return both;
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
  Lists lists;
  Json positions = {{"rounds", lists.add(numbers_json(rounds, kDigitsOfRounds))},
                    {"x", Json::object()},
                    {"y", Json::object()}};
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!has_numbers(series.x[i])) continue;
    positions["x"][std::to_string(i)] = lists.add(numbers_json(series.x[i], kDigits));
  }
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (has_numbers(series.y[i].mean)) positions["y"][std::to_string(i)] = add_values(lists, series.y[i]);
  }
  for (const auto& [name, values] : series.observed) positions["observed"][name] = add_values(lists, values);
  return fmt::format("{{\"lists\":{},\"positions\":{}}}", lists.json(), json_text(positions, -1));
}

}  // namespace fedarena::results
