#include "results/text/value_order.hpp"

#include <charconv>
#include <cmath>

#include "results/text/natural_order.hpp"

namespace fedarena::results {

std::optional<double> as_number(const std::string& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || std::isnan(number)) return std::nullopt;
  return number;
}

int compare_values(const std::string& left, const std::string& right) {
  const std::optional<double> first = as_number(left), second = as_number(right);
  if (first && second && *first != *second) return *first < *second ? -1 : 1;
  return natural_less(left, right) ? -1 : natural_less(right, left) ? 1 : 0;
}

}  // namespace fedarena::results
