#pragma once

#include <string_view>

namespace fedarena::results {

/// Whether `left` comes before `right` as people count: "seed-2" before "seed-10", and a folder before its
/// neighbours whose names it begins. A strict total order: only equal texts are equivalent.
bool natural_less(std::string_view left, std::string_view right);

/// That order, for sets and maps.
struct NaturalOrder {
  bool operator()(std::string_view left, std::string_view right) const { return natural_less(left, right); }
};

}  // namespace fedarena::results
