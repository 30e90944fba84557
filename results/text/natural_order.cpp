#include "results/text/natural_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "fedarena/base/text.hpp"

namespace fedarena::results {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// A separator ranks first, so that "a/x" comes before "a-b/x".
int rank(char letter) { return letter == '/' ? -1 : static_cast<unsigned char>(letter); }

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// A number as people write it, "12" or "0.05": numbers are in the order of their tuples.
using Number = std::tuple<std::size_t, std::string_view, std::string_view>;

// Takes the number at the front of `text`: how many digits stand before its point without leading zeros,
// those, and those behind it without trailing ones.
Number take_number(std::string_view& text) {
  std::string_view whole = take_digits(text), fraction;
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  if (text.size() > 1 && text[0] == '.' && is_digit(text[1])) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  }
  return {whole.size(), whole, fraction};
}

}  // namespace

bool natural_less(std::string_view left, std::string_view right) {
  std::string_view l = left;
  std::string_view r = right;
  while (!l.empty() && !r.empty()) {
    if (is_digit(l.front()) && is_digit(r.front())) {
      const Number left_number = take_number(l), right_number = take_number(r);
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
  if (first.has_value() != second.has_value()) return first ? -1 : 1;
  if (first && *first != *second) return *first < *second ? -1 : 1;
  return compare_natural(left, right);
}

}  // namespace fedarena::results
