#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fedarena::results {

/// Whether `left` comes before `right` as people count: "seed-2" before "seed-10", "rate=0.05" before
/// "rate=0.1", and a folder before its
/// neighbours whose names it begins. A strict total order: only equal texts are equivalent.
bool natural_less(std::string_view left, std::string_view right);

/// Less than 0, 0 or greater, in that order.
int compare_natural(std::string_view left, std::string_view right);

/// That order, for sets and maps; of pairs, the first texts go before the second ones.
struct NaturalOrder {
  using Pair = std::pair<std::string, std::string>;
  bool operator()(std::string_view left, std::string_view right) const { return natural_less(left, right); }
  bool operator()(const Pair& left, const Pair& right) const {
    return natural_less(left.first, right.first) ||
           (left.first == right.first && natural_less(left.second, right.second));
  }
};

/// The number that the whole text is; none for other texts and for "nan".
std::optional<double> as_number(const std::string& text);

/// Less than 0, 0 or greater: numbers as numbers, behind them other texts in natural order.
int compare_values(const std::string& left, const std::string& right);

}  // namespace fedarena::results
