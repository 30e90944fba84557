#include "results/text/natural_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// A separator ranks first, so that "a/x" comes before "a-b/x".
int rank(char letter) { return letter == '/' ? -1 : static_cast<unsigned char>(letter); }

// Takes the digits at the front of `text`, without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool natural_less(std::string_view left, std::string_view right) {
  std::string_view l = left;
  std::string_view r = right;
  while (!l.empty() && !r.empty()) {
    if (is_digit(l.front()) && is_digit(r.front())) {
      const std::string_view left_number = take_number(l);
      const std::string_view right_number = take_number(r);
      if (left_number.size() != right_number.size()) return left_number.size() < right_number.size();
      if (left_number != right_number) return left_number < right_number;
      continue;
    }
    if (l.front() != r.front()) return rank(l.front()) < rank(r.front());
    l.remove_prefix(1);
    r.remove_prefix(1);
  }
  if (l.empty() != r.empty()) return l.empty();
  return left < right;  // "1" and "01": equal as numbers
}

int compare_natural(std::string_view left, std::string_view right) {
  return natural_less(left, right) ? -1 : natural_less(right, left) ? 1 : 0;
}

std::optional<double> as_number(const std::string& text) {
  const std::optional<double> number = parse_number<double>(text);
  return number && !std::isnan(*number) ? number : std::nullopt;
}

int compare_values(const std::string& left, const std::string& right) {
  const std::optional<double> first = as_number(left), second = as_number(right);
  if (first && second && *first != *second) return *first < *second ? -1 : 1;
  return compare_natural(left, right);
}

}  // namespace fedarena::results
